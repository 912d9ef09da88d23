;; The product of a matrix with some vectors: nearly all that a Transformer computes. product.js has
;; the same in JavaScript, and this module's bytes, which a test makes anew.
;;
;; The matrix is of whole numbers in 8 bits. To multiply them as they are, instead of making floats
;; of each, a vector becomes whole numbers too: 2^15 h + l, of 30 bits together. Its largest number
;; keeps all 24 bits of a float, and none is off by more than 2^-29 of the largest. Processors multiply
;; such halves of 16 bits eight at a time, and add them without rounding.
(module
  (import "page" "memory" (memory 1))

  ;; `width` floats at `x` become halves where they stand: for eight floats their eight h, then their
  ;; eight l. Returns what the whole numbers are multiplied by to be the floats again: a power of 2.
  (func (export "halve") (param $x i32) (param $width i32) (result f32)
    (local $at i32) (local $end i32) (local $exponent i32)
    (local $top v128) (local $by v128)
    (local $a v128) (local $b v128) (local $high-a v128) (local $high-b v128)
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $width) (i32.const 2))))
    (local.set $at (local.get $x))
    (loop $fours
      (local.set $top
        (f32x4.max (local.get $top) (f32x4.abs (v128.load (local.get $at)))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $fours (i32.lt_u (local.get $at) (local.get $end))))
    ;; The largest number's exponent, as a float holds it (127 more than it is). What is smaller
    ;; than 2^-98 counts as 0, so that neither power of 2 leaves the range of floats.
    (local.set $exponent (i32.shr_u (i32.reinterpret_f32 (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $top)) (f32x4.extract_lane 1 (local.get $top)))
      (f32.max (f32x4.extract_lane 2 (local.get $top)) (f32x4.extract_lane 3 (local.get $top)))))
      (i32.const 23)))
    (if (i32.lt_u (local.get $exponent) (i32.const 29))
      (then (local.set $exponent (i32.const 29))))
    ;; By this power of 2 the largest number comes between 2^28 and 2^29.
    (local.set $by (f32x4.splat (f32.reinterpret_i32
      (i32.shl (i32.sub (i32.const 282) (local.get $exponent)) (i32.const 23)))))
    (local.set $at (local.get $x))
    (loop $eights
      (local.set $a (i32x4.trunc_sat_f32x4_s (f32x4.nearest
        (f32x4.mul (local.get $by) (v128.load (local.get $at))))))
      (local.set $b (i32x4.trunc_sat_f32x4_s (f32x4.nearest
        (f32x4.mul (local.get $by) (v128.load offset=16 (local.get $at))))))
      (local.set $high-a (call $rounded (local.get $a)))
      (local.set $high-b (call $rounded (local.get $b)))
      (v128.store (local.get $at)
        (i16x8.narrow_i32x4_s (local.get $high-a) (local.get $high-b)))
      (v128.store offset=16 (local.get $at) (i16x8.narrow_i32x4_s
        (i32x4.sub (local.get $a) (i32x4.shl (local.get $high-a) (i32.const 15)))
        (i32x4.sub (local.get $b) (i32x4.shl (local.get $high-b) (i32.const 15)))))
      (local.set $at (i32.add (local.get $at) (i32.const 32)))
      (br_if $eights (i32.lt_u (local.get $at) (local.get $end))))
    (f32.reinterpret_i32
      (i32.shl (i32.sub (local.get $exponent) (i32.const 28)) (i32.const 23))))

  ;; Divided by 2^15, to the nearest whole number.
  (func $rounded (param $whole v128) (result v128)
    (i32x4.shr_s
      (i32x4.add (local.get $whole) (v128.const i32x4 16384 16384 16384 16384))
      (i32.const 15)))

  ;; For each of `n` vectors x, halved, and each row w of the matrix:
  ;;   y = (x . w) * what `halve` returned (one float for each vector, at `units`)
  ;;       * the row's scale + the row's bias
  ;; A row has `width` whole numbers, a multiple of 8 and at most 4096, or a sum could leave 32 bits;
  ;; `outs` is a multiple of 4. From a vector's results to the next one's it is 4 * outs bytes.
  (func (export "product")
    (param $x i32) (param $units i32) (param $n i32)
    (param $w i32) (param $width i32) (param $outs i32) (param $scale i32) (param $bias i32)
    (param $y i32)
    (local $rows i32) (local $left i32) (local $half i32) (local $unit i32) (local $at i32)
    (local $w0 i32) (local $w1 i32) (local $w2 i32) (local $w3 i32) (local $end i32)
    (local $h v128) (local $l v128) (local $row v128)
    (local $h0 v128) (local $h1 v128) (local $h2 v128) (local $h3 v128)
    (local $l0 v128) (local $l1 v128) (local $l2 v128) (local $l3 v128)
    (local.set $rows (local.get $outs))
    (loop $fours ;; rows
      (local.set $end (i32.add (local.get $w) (local.get $width)))
      (local.set $half (local.get $x))
      (local.set $unit (local.get $units))
      (local.set $at (local.get $y))
      (local.set $left (local.get $n))
      (loop $vectors
        (local.set $w0 (local.get $w))
        (local.set $w1 (i32.add (local.get $w0) (local.get $width)))
        (local.set $w2 (i32.add (local.get $w1) (local.get $width)))
        (local.set $w3 (i32.add (local.get $w2) (local.get $width)))
        (local.set $h0 (v128.const i32x4 0 0 0 0))
        (local.set $h1 (local.get $h0))
        (local.set $h2 (local.get $h0))
        (local.set $h3 (local.get $h0))
        (local.set $l0 (local.get $h0))
        (local.set $l1 (local.get $h0))
        (local.set $l2 (local.get $h0))
        (local.set $l3 (local.get $h0))
        (loop $eights ;; numbers
          (local.set $h (v128.load (local.get $half)))
          (local.set $l (v128.load offset=16 (local.get $half)))
          (local.set $row (v128.load8x8_s (local.get $w0)))
          (local.set $h0
            (i32x4.add (local.get $h0) (i32x4.dot_i16x8_s (local.get $h) (local.get $row))))
          (local.set $l0
            (i32x4.add (local.get $l0) (i32x4.dot_i16x8_s (local.get $l) (local.get $row))))
          (local.set $row (v128.load8x8_s (local.get $w1)))
          (local.set $h1
            (i32x4.add (local.get $h1) (i32x4.dot_i16x8_s (local.get $h) (local.get $row))))
          (local.set $l1
            (i32x4.add (local.get $l1) (i32x4.dot_i16x8_s (local.get $l) (local.get $row))))
          (local.set $row (v128.load8x8_s (local.get $w2)))
          (local.set $h2
            (i32x4.add (local.get $h2) (i32x4.dot_i16x8_s (local.get $h) (local.get $row))))
          (local.set $l2
            (i32x4.add (local.get $l2) (i32x4.dot_i16x8_s (local.get $l) (local.get $row))))
          (local.set $row (v128.load8x8_s (local.get $w3)))
          (local.set $h3
            (i32x4.add (local.get $h3) (i32x4.dot_i16x8_s (local.get $h) (local.get $row))))
          (local.set $l3
            (i32x4.add (local.get $l3) (i32x4.dot_i16x8_s (local.get $l) (local.get $row))))
          (local.set $half (i32.add (local.get $half) (i32.const 32)))
          (local.set $w0 (i32.add (local.get $w0) (i32.const 8)))
          (local.set $w1 (i32.add (local.get $w1) (i32.const 8)))
          (local.set $w2 (i32.add (local.get $w2) (i32.const 8)))
          (local.set $w3 (i32.add (local.get $w3) (i32.const 8)))
          (br_if $eights (i32.lt_u (local.get $w0) (local.get $end))))
        (v128.store (local.get $at) (f32x4.add (v128.load (local.get $bias)) (f32x4.mul
          (f32x4.mul (v128.load (local.get $scale)) (v128.load32_splat (local.get $unit)))
          (call $sums
            (call $whole (local.get $h0) (local.get $l0))
            (call $whole (local.get $h1) (local.get $l1))
            (call $whole (local.get $h2) (local.get $l2))
            (call $whole (local.get $h3) (local.get $l3))))))
        (local.set $at (i32.add (local.get $at) (i32.shl (local.get $outs) (i32.const 2))))
        (local.set $unit (i32.add (local.get $unit) (i32.const 4)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $vectors (local.get $left)))
      (local.set $w (local.get $w3))
      (local.set $scale (i32.add (local.get $scale) (i32.const 16)))
      (local.set $bias (i32.add (local.get $bias) (i32.const 16)))
      (local.set $y (i32.add (local.get $y) (i32.const 16)))
      (local.set $rows (i32.sub (local.get $rows) (i32.const 4)))
      (br_if $fours (local.get $rows))))

  ;; 2^15 h + l, as floats.
  (func $whole (param $h v128) (param $l v128) (result v128)
    (f32x4.add
      (f32x4.mul (v128.const f32x4 32768 32768 32768 32768)
        (f32x4.convert_i32x4_s (local.get $h)))
      (f32x4.convert_i32x4_s (local.get $l))))

  ;; The sum of each one's four numbers.
  (func $sums (param $a v128) (param $b v128) (param $c v128) (param $d v128) (result v128)
    (local $ab v128) (local $cd v128)
    (local.set $ab (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b))))
    (local.set $cd (f32x4.add
      (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d))
      (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d))))
    (f32x4.add
      (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $ab) (local.get $cd))
      (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $ab) (local.get $cd)))))
