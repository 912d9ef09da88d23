;; The product of a matrix with some vectors, four numbers at a time: nearly all that a Transformer
;; computes. product.js has the same in JavaScript, and this module's bytes, which a test makes anew.
;;
;; For each vector x of `n` and each row w of `outs` rows of the matrix:
;;   y = (x . w) * scale of the row (+ bias) (+ what stands in y already, if `add`)
;; The matrix is of whole numbers in 8 bits, since what takes time is to fetch it: a row has `width`
;; of them, a multiple of 16, filled up with zeros, and so has a vector of floats. `scale` is where
;; the rows' scales begin, `stride` the distance in bytes from a vector's results to the next one's.
;; A `bias` at address 0 is none.
(module
  (import "page" "memory" (memory 1))
  (func $store
    (param $sums v128) (param $at i32) (param $scale f32) (param $bias i32) (param $add i32)
    (local $y f32)
    (local.set $y (f32.mul (local.get $scale) (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $sums)) (f32x4.extract_lane 1 (local.get $sums)))
      (f32.add (f32x4.extract_lane 2 (local.get $sums)) (f32x4.extract_lane 3 (local.get $sums))))))
    (if (local.get $bias)
      (then (local.set $y (f32.add (local.get $y) (f32.load (local.get $bias))))))
    (if (local.get $add)
      (then (local.set $y (f32.add (local.get $y) (f32.load (local.get $at))))))
    (f32.store (local.get $at) (local.get $y)))
  (func (export "product")
    (param $x i32) (param $n i32) (param $width i32)
    (param $w i32) (param $scale i32) (param $outs i32) (param $bias i32)
    (param $y i32) (param $stride i32) (param $add i32)
    (local $left i32) (local $at i32) (local $with i32) (local $end i32)
    (local $from i32) (local $from1 i32) (local $from2 i32) (local $from3 i32) (local $by f32)
    (local $whole v128) (local $low v128) (local $high v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $a1 v128) (local $b1 v128) (local $c1 v128) (local $d1 v128)
    (loop $outputs
      (local.set $end (i32.add (local.get $w) (local.get $width)))
      (local.set $by (f32.load (local.get $scale)))
      (local.set $from (local.get $x))
      (local.set $at (local.get $y))
      (local.set $left (local.get $n))
      (block $few
        (loop $fours ;; vectors, for which the row is read once
          (br_if $few (i32.lt_u (local.get $left) (i32.const 4)))
          (local.set $from1 (i32.add (local.get $from) (i32.shl (local.get $width) (i32.const 2))))
          (local.set $from2 (i32.add (local.get $from1) (i32.shl (local.get $width) (i32.const 2))))
          (local.set $from3 (i32.add (local.get $from2) (i32.shl (local.get $width) (i32.const 2))))
          (local.set $with (local.get $w))
          (local.set $a (v128.const f32x4 0 0 0 0))
          (local.set $b (local.get $a))
          (local.set $c (local.get $a))
          (local.set $d (local.get $a))
          (local.set $a1 (local.get $a))
          (local.set $b1 (local.get $a))
          (local.set $c1 (local.get $a))
          (local.set $d1 (local.get $a))
          (loop $eight
            (local.set $whole (v128.load8x8_s (local.get $with)))
            (local.set $low (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $whole))))
            (local.set $high (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $whole))))
            (local.set $a (f32x4.add (local.get $a) (f32x4.mul
              (v128.load (local.get $from)) (local.get $low))))
            (local.set $a1 (f32x4.add (local.get $a1) (f32x4.mul
              (v128.load offset=16 (local.get $from)) (local.get $high))))
            (local.set $b (f32x4.add (local.get $b) (f32x4.mul
              (v128.load (local.get $from1)) (local.get $low))))
            (local.set $b1 (f32x4.add (local.get $b1) (f32x4.mul
              (v128.load offset=16 (local.get $from1)) (local.get $high))))
            (local.set $c (f32x4.add (local.get $c) (f32x4.mul
              (v128.load (local.get $from2)) (local.get $low))))
            (local.set $c1 (f32x4.add (local.get $c1) (f32x4.mul
              (v128.load offset=16 (local.get $from2)) (local.get $high))))
            (local.set $d (f32x4.add (local.get $d) (f32x4.mul
              (v128.load (local.get $from3)) (local.get $low))))
            (local.set $d1 (f32x4.add (local.get $d1) (f32x4.mul
              (v128.load offset=16 (local.get $from3)) (local.get $high))))
            (local.set $from (i32.add (local.get $from) (i32.const 32)))
            (local.set $from1 (i32.add (local.get $from1) (i32.const 32)))
            (local.set $from2 (i32.add (local.get $from2) (i32.const 32)))
            (local.set $from3 (i32.add (local.get $from3) (i32.const 32)))
            (local.set $with (i32.add (local.get $with) (i32.const 8)))
            (br_if $eight (i32.lt_u (local.get $with) (local.get $end))))
          (call $store (f32x4.add (local.get $a) (local.get $a1)) (local.get $at)
            (local.get $by) (local.get $bias) (local.get $add))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (call $store (f32x4.add (local.get $b) (local.get $b1)) (local.get $at)
            (local.get $by) (local.get $bias) (local.get $add))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (call $store (f32x4.add (local.get $c) (local.get $c1)) (local.get $at)
            (local.get $by) (local.get $bias) (local.get $add))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (call $store (f32x4.add (local.get $d) (local.get $d1)) (local.get $at)
            (local.get $by) (local.get $bias) (local.get $add))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (local.set $from (local.get $from3))
          (local.set $left (i32.sub (local.get $left) (i32.const 4)))
          (br $fours)))
      (block $none
        (loop $ones
          (br_if $none (i32.eqz (local.get $left)))
          (local.set $with (local.get $w))
          (local.set $a (v128.const f32x4 0 0 0 0))
          (local.set $b (local.get $a))
          (local.set $c (local.get $a))
          (local.set $d (local.get $a))
          (loop $sixteen
            (local.set $whole (v128.load8x8_s (local.get $with)))
            (local.set $a (f32x4.add (local.get $a) (f32x4.mul (v128.load (local.get $from))
              (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $whole))))))
            (local.set $b (f32x4.add (local.get $b) (f32x4.mul (v128.load offset=16 (local.get $from))
              (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $whole))))))
            (local.set $whole (v128.load8x8_s offset=8 (local.get $with)))
            (local.set $c (f32x4.add (local.get $c) (f32x4.mul (v128.load offset=32 (local.get $from))
              (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $whole))))))
            (local.set $d (f32x4.add (local.get $d) (f32x4.mul (v128.load offset=48 (local.get $from))
              (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $whole))))))
            (local.set $from (i32.add (local.get $from) (i32.const 64)))
            (local.set $with (i32.add (local.get $with) (i32.const 16)))
            (br_if $sixteen (i32.lt_u (local.get $with) (local.get $end))))
          (call $store (f32x4.add
              (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d)))
            (local.get $at) (local.get $by) (local.get $bias) (local.get $add))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br $ones)))
      (local.set $w (local.get $end))
      (local.set $scale (i32.add (local.get $scale) (i32.const 4)))
      (if (local.get $bias)
        (then (local.set $bias (i32.add (local.get $bias) (i32.const 4)))))
      (local.set $y (i32.add (local.get $y) (i32.const 4)))
      (local.set $outs (i32.sub (local.get $outs) (i32.const 1)))
      (br_if $outputs (local.get $outs)))))
