;; The product of a matrix with some vectors, four numbers at a time: nearly all that a Transformer
;; computes. product.js has the same in JavaScript, and this module's bytes, which a test makes anew.
;;
;; For each vector x of `rows` and each row w of `outs` rows of the matrix:
;;   y = x . w (+ bias) (+ what stands in y already, if `add`)
;; `bytes` is the length of a vector: a multiple of 64, filled up with zeros. `stride` is the
;; distance in bytes from a vector's results to the next one's. A `bias` at address 0 is none.
(module
  (import "page" "memory" (memory 1))
  (func (export "product")
    (param $x i32) (param $rows i32) (param $bytes i32)
    (param $w i32) (param $outs i32) (param $bias i32)
    (param $y i32) (param $stride i32) (param $add i32)
    (local $row i32) (local $at i32) (local $from i32) (local $with i32) (local $end i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $sum f32)
    (loop $outputs
      (local.set $end (i32.add (local.get $w) (local.get $bytes)))
      (local.set $from (local.get $x))
      (local.set $at (local.get $y))
      (local.set $row (local.get $rows))
      (loop $vectors
        (local.set $with (local.get $w))
        (local.set $a (v128.const f32x4 0 0 0 0))
        (local.set $b (local.get $a))
        (local.set $c (local.get $a))
        (local.set $d (local.get $a))
        (loop $sixteen
          (local.set $a (f32x4.add (local.get $a) (f32x4.mul
            (v128.load (local.get $from)) (v128.load (local.get $with)))))
          (local.set $b (f32x4.add (local.get $b) (f32x4.mul
            (v128.load offset=16 (local.get $from)) (v128.load offset=16 (local.get $with)))))
          (local.set $c (f32x4.add (local.get $c) (f32x4.mul
            (v128.load offset=32 (local.get $from)) (v128.load offset=32 (local.get $with)))))
          (local.set $d (f32x4.add (local.get $d) (f32x4.mul
            (v128.load offset=48 (local.get $from)) (v128.load offset=48 (local.get $with)))))
          (local.set $from (i32.add (local.get $from) (i32.const 64)))
          (local.set $with (i32.add (local.get $with) (i32.const 64)))
          (br_if $sixteen (i32.lt_u (local.get $with) (local.get $end))))
        (local.set $a (f32x4.add
          (f32x4.add (local.get $a) (local.get $b)) (f32x4.add (local.get $c) (local.get $d))))
        (local.set $sum (f32.add
          (f32.add (f32x4.extract_lane 0 (local.get $a)) (f32x4.extract_lane 1 (local.get $a)))
          (f32.add (f32x4.extract_lane 2 (local.get $a)) (f32x4.extract_lane 3 (local.get $a)))))
        (if (local.get $bias)
          (then (local.set $sum (f32.add (local.get $sum) (f32.load (local.get $bias))))))
        (if (local.get $add)
          (then (local.set $sum (f32.add (local.get $sum) (f32.load (local.get $at))))))
        (f32.store (local.get $at) (local.get $sum))
        (local.set $at (i32.add (local.get $at) (local.get $stride)))
        (local.set $row (i32.sub (local.get $row) (i32.const 1)))
        (br_if $vectors (local.get $row)))
      (local.set $w (local.get $end))
      (if (local.get $bias)
        (then (local.set $bias (i32.add (local.get $bias) (i32.const 4)))))
      (local.set $y (i32.add (local.get $y) (i32.const 4)))
      (local.set $outs (i32.sub (local.get $outs) (i32.const 1)))
      (br_if $outputs (local.get $outs)))))
