"""Other right answers: three to each exercise, none of them written as ours is."""

import math
import re
from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from transformer import TransformerConfig
from transformer.layers import EncoderLayer
from transformer.training import noam_rate as module_noam_rate
from transformer.training.loss import smoothed_targets
from transformer.variants.rotary import rotate as module_rotate

from transformer_book.ablation import Interval

# Attention -----------------------------------------------------------------------------------


def softmax_by_logsumexp(x):
    return (x - x.logsumexp(-1, keepdim=True)).exp()


def softmax_row_by_row(x):
    rows = [
        torch.stack([1 / (row - score).clamp(max=80).exp().sum() for score in row])
        for row in x.reshape(-1, x.size(-1))
    ]
    return torch.stack(rows).reshape(x.shape)


def attention_of_torch(query, key, value, mask=None):
    output = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    eye = torch.eye(key.size(-2)).expand(*key.shape[:-2], -1, -1)
    return output, F.scaled_dot_product_attention(query, key, eye, attn_mask=mask)


def attention_by_einsum(query, key, value, mask=None):
    scores = torch.einsum("...qd,...kd->...qk", query, key) * query.shape[-1] ** -0.5
    allowed = torch.ones_like(scores) if mask is None else mask.to(scores).expand_as(scores)
    seen = scores - 1e9 * (1 - allowed)
    powers = torch.exp(seen - seen.max(-1, keepdim=True).values) * allowed
    weights = powers / powers.sum(-1, keepdim=True).clamp(min=1e-30)
    return torch.einsum("...qk,...kd->...qd", weights, value), weights


def attention_by_adding(query, key, value, mask=None):
    scores = (query / math.sqrt(query.shape[-1])) @ key.mT
    if mask is None:
        weights = torch.softmax(scores, -1)
    else:
        added = torch.zeros_like(scores).masked_fill(mask.logical_not(), -1e9)
        weights = torch.softmax(scores + added, -1) * mask
    return (weights[..., None] * value[..., None, :, :]).sum(-2), weights


# Masks ---------------------------------------------------------------------------------------


def causal_by_comparison(size):
    return torch.arange(size)[:, None] >= torch.arange(size)


def causal_cell_by_cell(size):
    return torch.tensor([[column <= row for column in range(size)] for row in range(size)])


def padding_by_unsqueeze(tokens, pad_id):
    return tokens.ne(pad_id).unsqueeze(1).unsqueeze(1)


def padding_by_view(tokens, pad_id):
    return ~(tokens == pad_id).view(tokens.size(0), 1, 1, tokens.size(1))


def padding_sentence_by_sentence(tokens, pad_id):
    return torch.tensor([[[[token != pad_id for token in row]]] for row in tokens.tolist()])


# Heads ---------------------------------------------------------------------------------------


def split_by_chunk(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


def split_by_view(x, n_heads):
    batch, length, channels = x.shape
    return x.view(batch, length, n_heads, channels // n_heads).permute(0, 2, 1, 3)


def split_by_slices(x, n_heads):
    width = x.size(-1) // n_heads
    return torch.stack([x[..., h * width : (h + 1) * width] for h in range(n_heads)], 1)


def join_by_cat(x):
    return torch.cat(list(x.unbind(1)), dim=-1)


def join_by_reshape(x):
    return x.permute(0, 2, 1, 3).reshape(x.size(0), x.size(2), -1)


def join_by_einsum(x):
    return torch.einsum("bhlw->blhw", x).flatten(-2)


def heads_in_a_loop(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    outputs = []
    parts = (w.chunk(n_heads, dim=1) for w in (w_query, w_key, w_value))
    for w_q, w_k, w_v in zip(*parts, strict=True):
        allowed = None if mask is None else mask[:, 0]
        output, _ = attention_by_adding(query @ w_q, key @ w_k, value @ w_v, allowed)
        outputs.append(output)
    return torch.cat(outputs, -1) @ w_output


def heads_as_a_sum(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    total: Any = 0
    for i, rows in enumerate(w_output.chunk(n_heads, dim=0)):
        w_q, w_k, w_v = (w.chunk(n_heads, dim=1)[i] for w in (w_query, w_key, w_value))
        allowed = None if mask is None else mask[:, 0]
        total = total + attention_of_torch(query @ w_q, key @ w_k, value @ w_v, allowed)[0] @ rows
    return total


def heads_by_torch(query, key, value, w_query, w_key, w_value, w_output, n_heads, mask=None):
    def cut(x, w):
        return torch.stack((x @ w).chunk(n_heads, -1), 1)

    q, k, v = cut(query, w_query), cut(key, w_key), cut(value, w_value)
    heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return torch.einsum("bhld,hdm->blm", heads, w_output.unflatten(0, (n_heads, -1)))


# Embedding -----------------------------------------------------------------------------------


def embedding_of_torch(tokens, table):
    return F.embedding(tokens, table) * table.shape[-1] ** 0.5


def embedding_by_one_hot(tokens, table):
    return F.one_hot(tokens, len(table)).to(table) @ (table * math.sqrt(table.size(-1)))


def embedding_token_by_token(tokens, table):
    root = math.sqrt(table.size(1))
    return torch.stack([torch.stack([table[token] * root for token in row]) for row in tokens])


def sinusoids_by_assignment(length, d_model):
    table = torch.zeros(length, d_model)
    position = torch.arange(length).float().unsqueeze(1)
    frequency = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    table[:, 0::2] = torch.sin(position * frequency)
    table[:, 1::2] = torch.cos(position * frequency)
    return table


def sinusoids_number_by_number(length, d_model):
    def code(pos, column):
        angle = pos / 10_000 ** (2 * (column // 2) / d_model)
        return math.cos(angle) if column % 2 else math.sin(angle)

    return torch.tensor([[code(pos, c) for c in range(d_model)] for pos in range(length)])


def sinusoids_as_complex(length, d_model):
    angle = torch.outer(torch.arange(length), 1e4 ** (-torch.arange(0, d_model, 2) / d_model))
    points = torch.view_as_real(torch.polar(torch.ones_like(angle), angle))  # cosine, sine
    return points.flip(-1).reshape(length, d_model)


# Layers --------------------------------------------------------------------------------------


def norm_of_torch(x, gain, bias, eps):
    return F.layer_norm(x, (x.size(-1),), gain, bias, eps)


def norm_by_var_mean(x, gain, bias, eps):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias


def norm_in_double(x, gain, bias, eps):
    wide = x.double()
    second = (wide**2).mean(-1, keepdim=True) - wide.mean(-1, keepdim=True) ** 2
    plain = (wide - wide.mean(-1, keepdim=True)) / torch.sqrt(second + eps)
    return (plain * gain + bias).to(x.dtype)


def network_by_linear(x, w_1, b_1, w_2, b_2):
    return F.linear(F.relu(F.linear(x, w_1.T, b_1)), w_2.T, b_2)


def network_by_clamp(x, w_1, b_1, w_2, b_2):
    return torch.einsum("...f,fd->...d", (x.matmul(w_1) + b_1).clamp(min=0), w_2) + b_2


def network_by_where(x, w_1, b_1, w_2, b_2):
    inner = x @ w_1 + b_1
    return torch.where(inner > 0, inner, 0.0) @ w_2 + b_2


def residual_step_by_step(x, sublayer, norm, dropout):
    out = sublayer(x)
    out = dropout(out)
    return norm(out + x)


def residual_by_add(x, sublayer, norm, dropout):
    return norm(torch.add(x, dropout(sublayer(x))))


def residual_by_stack(x, sublayer, norm, dropout):
    return norm(torch.stack([dropout(sublayer(x)), x]).sum(0))


def encoder_with_names(x, mask, self_attention, feed_forward, residual_1, residual_2):
    def attend(h):
        return self_attention(h, h, h, mask)

    return residual_2(residual_1(x, attend), feed_forward)


def encoder_in_a_loop(x, mask, self_attention, feed_forward, residual_1, residual_2):
    steps = [(residual_1, lambda h: self_attention(h, h, h, mask)), (residual_2, feed_forward)]
    for residual, sublayer in steps:
        x = residual(x, sublayer)
    return x


def encoder_with_a_full_mask(x, mask, self_attention, feed_forward, residual_1, residual_2):
    full = mask.expand(-1, 1, x.size(1), -1)
    h = residual_1(x, lambda y: self_attention(y, key=y, value=y, mask=full))
    return residual_2(h, lambda y: feed_forward(y))


def decoder_with_names(x, memory, src, tgt, own, cross, network, one, two, three):
    def first(h):
        return own(h, h, h, tgt)

    def second(h):
        return cross(h, memory, memory, src)

    return three(two(one(x, first), second), network)


def decoder_in_a_loop(x, memory, src, tgt, own, cross, network, one, two, three):
    sublayers = [lambda h: own(h, h, h, tgt), lambda h: cross(h, memory, memory, src), network]
    for residual, sublayer in zip((one, two, three), sublayers, strict=True):
        x = residual(x, sublayer)
    return x


def decoder_with_full_masks(x, memory, src, tgt, own, cross, network, one, two, three):
    full = src.expand(-1, 1, x.size(1), -1)
    x = one(x, lambda h: own(query=h, key=h, value=h, mask=tgt.clone()))
    x = two(x, lambda h: cross(h, memory.clone(), memory, full))
    return three(x, network)


# Training ------------------------------------------------------------------------------------


def loss_of_torch(logits, target, smoothing, pad_id):
    flat = logits.flatten(0, 1), target.flatten()
    settings = {"ignore_index": pad_id, "label_smoothing": smoothing, "reduction": "sum"}
    return F.cross_entropy(*flat, **settings)


def loss_by_targets(logits, target, smoothing, pad_id):
    wanted = smoothed_targets(target, logits.size(-1), smoothing)
    loss = -(wanted * F.log_softmax(logits, -1)).sum(-1)
    return (loss * (target != pad_id)).sum()


def loss_token_by_token(logits, target, smoothing, pad_id):
    total = 0 * logits.sum()
    for row, wanted in zip(logits.flatten(0, 1), target.flatten().tolist(), strict=True):
        if wanted != pad_id:
            log_probs = row - row.logsumexp(0)
            total = total - (1 - smoothing) * log_probs[wanted] - smoothing * log_probs.mean()
    return total


def noam_in_two_cases(step, d_model, warmup):
    rate = step / warmup**1.5 if step < warmup else 1 / math.sqrt(step)
    return rate / math.sqrt(d_model)


def noam_of_numpy(step, d_model, warmup):
    return np.min([step**-0.5, step * warmup**-1.5]) / np.sqrt(d_model)


# Subwords ------------------------------------------------------------------------------------


def merge_by_a_stack(pieces, pair):
    merged, joined = [], False
    for piece in pieces:
        if merged and not joined and (merged[-1], piece) == tuple(pair):
            merged[-1] += piece
            joined = True
        else:
            merged.append(piece)
            joined = False
    return merged


def merge_by_recursion(pieces, pair):
    if len(pieces) < 2:
        return list(pieces)
    if tuple(pieces[:2]) == pair:
        return [pieces[0] + pieces[1], *merge_by_recursion(pieces[2:], pair)]
    return [pieces[0], *merge_by_recursion(pieces[1:], pair)]


def merge_by_regex(pieces, pair):
    text = "".join(f"<{piece}>" for piece in pieces)
    joined = text.replace(f"<{pair[0]}><{pair[1]}>", f"<{''.join(pair)}>")
    return re.findall("<(.*?)>", joined)


# Decoding ------------------------------------------------------------------------------------


def greedy_with_while(next_logits, bos_id, eos_id, max_len):
    output: list[int] = []
    while len(output) < max_len:
        token = next_logits([bos_id, *output]).max(-1).indices.item()
        if token == eos_id:
            return output
        output += [token]
    return output


def greedy_by_recursion(next_logits, bos_id, eos_id, max_len):
    def rest(prefix):
        token = torch.argmax(next_logits(prefix)).item()
        if len(prefix) > max_len or token == eos_id:
            return prefix[1:]
        return rest([*prefix, token])

    return rest([bos_id])


def greedy_with_tensors(next_logits, bos_id, eos_id, max_len):
    prefix = torch.tensor([bos_id])
    for _ in range(max_len):
        token = next_logits(prefix.tolist()).softmax(-1).argmax()[None]
        if token == eos_id:
            break
        prefix = torch.cat([prefix, token])
    return prefix[1:].tolist()


def beam_by_sorting(totals, log_probs, beam_size):
    sums = (totals.unsqueeze(-1) + log_probs).reshape(-1)
    index = sums.argsort(descending=True)[:beam_size]
    vocab = log_probs.size(-1)
    return sums[index], torch.div(index, vocab, rounding_mode="floor"), index.remainder(vocab)


def beam_candidate_by_candidate(totals, log_probs, beam_size):
    pairs = product(range(log_probs.size(0)), range(log_probs.size(1)))
    found = [((totals[i] + log_probs[i, j]), i, j) for i, j in pairs]
    best = sorted(found, key=lambda each: -each[0].item())[:beam_size]
    sums, rows, tokens = zip(*best, strict=True)
    return torch.stack(sums), torch.tensor(rows), torch.tensor(tokens)


def beam_prefix_by_prefix(totals, log_probs, beam_size):
    n = min(beam_size, log_probs.size(1))
    best, token = (log_probs + totals[:, None]).topk(n, dim=1)
    total, index = best.flatten().topk(beam_size)
    return total, index // n, token.flatten()[index]


# Findings ------------------------------------------------------------------------------------


def flops_counted_by_torch(length, d_model, d_ff):
    config = TransformerConfig(2, 2, d_model, d_ff, n_heads=1, n_layers=1, dropout=0.0)
    with torch.device("meta"):  # nothing is computed, and no random numbers are drawn
        layer = EncoderLayer(config)
        x = torch.empty(1, length, d_model, requires_grad=True)
    layer.self_attention.on_weights = lambda weights: None  # the path that is counted
    with FlopCounterMode(display=False) as counter:
        layer(x).sum().backward()
    return counter.get_total_flops()


def flops_by_products(length, d_model, d_ff):
    n, d = length, d_model
    products = [(n, d, d)] * 4 + [(n, d, n), (n, n, d), (n, d, d_ff), (n, d_ff, d)]
    return sum(6 * rows * inner * columns for rows, inner, columns in products)


def flops_factored(length, d_model, d_ff):
    return 12 * length * d_model * (2 * d_model + length + d_ff)


def interval_of_the_module(one, other):
    found = Interval.of([a - b for a, b in zip(one, other, strict=True)])
    return found.mean, found.half_width


STUDENT = {2: 12.706, 3: 4.303, 5: 2.776}


def interval_of_numpy(one, other):
    differences = np.subtract(one, other)
    error = differences.std(ddof=1) / np.sqrt(len(one))
    return differences.mean(), STUDENT[len(one)] * error


def interval_of_torch(one, other):
    differences = torch.tensor(one, dtype=torch.float64) - torch.tensor(other, dtype=torch.float64)
    error = (differences.var() / len(one)).sqrt()
    return differences.mean().item(), (STUDENT[len(one)] * error).item()


def f1_by_removing(proposed, wanted):
    right = 0
    for found, true in zip(proposed, wanted, strict=True):
        rest = list(true)
        for span in found:
            if span in rest:
                rest.remove(span)
                right += 1
    return 200 * right / sum(len(tree) for tree in [*proposed, *wanted])


def f1_by_precision_and_recall(proposed, wanted):
    right = sum(
        sum(min(a.count(s), b.count(s)) for s in set(a))
        for a, b in zip(proposed, wanted, strict=True)
    )
    if not right:
        return 0.0
    precision, recall = right / sum(map(len, proposed)), right / sum(map(len, wanted))
    return 100 / ((1 / precision + 1 / recall) / 2)


def f1_of_numbered_sentences(proposed, wanted):
    one, other = (
        Counter((i, *span) for i, tree in enumerate(trees) for span in tree)
        for trees in (proposed, wanted)
    )
    wrong = ((one - other) + (other - one)).total()
    both = one.total() + other.total()
    return 100.0 * (both - wrong) / both


# Since 2017 ----------------------------------------------------------------------------------


def rms_of_torch(x, gain, eps):
    return F.rms_norm(x, (x.size(-1),), gain, eps)


def rms_by_norm(x, gain, eps):
    return x * gain * torch.rsqrt(x.norm(dim=-1, keepdim=True) ** 2 / x.size(-1) + eps)


def rms_by_einsum(x, gain, eps):
    mean_square = torch.einsum("...d,...d->...", x, x) / x.size(-1)
    return x / torch.sqrt(mean_square + eps)[..., None] * gain


def rotate_as_complex(x, start=0):
    angle = torch.outer(
        torch.arange(start, start + x.size(-2)),
        10_000.0 ** -(torch.arange(0, x.size(-1), 2) / x.size(-1)),
    )
    points = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def rotate_of_the_module(x, start=0):
    return module_rotate(x, sinusoids_by_assignment(start + x.size(-2), x.size(-1))[start:])


def rotate_by_matrices(x, start=0):
    pairs = x.unflatten(-1, (-1, 2))
    i = torch.arange(pairs.size(-2))
    angle = torch.arange(start, start + x.size(-2))[:, None] * 1e4 ** (-2 * i / x.size(-1))
    sine, cosine = angle.sin(), angle.cos()
    turns = torch.stack([torch.stack([cosine, -sine], -1), torch.stack([sine, cosine], -1)], -2)
    return torch.einsum("lpij,...lpj->...lpi", turns, pairs).flatten(-2)


def gated_by_sigmoid(x, w_gate, w_1, w_2):
    gate = x @ w_gate
    return (gate * torch.sigmoid(gate) * (x @ w_1)) @ w_2


def gated_by_linear(x, w_gate, w_1, w_2):
    inner = nn.SiLU()(F.linear(x, w_gate.T)) * F.linear(x, w_1.T)
    return F.linear(inner, w_2.T)


def gated_in_one_product(x, w_gate, w_1, w_2):
    gate, inner = (x @ torch.cat([w_gate, w_1], 1)).chunk(2, -1)
    hidden: Tensor = gate / (1 + torch.exp(-gate)) * inner
    return torch.einsum("...f,fd->...d", hidden, w_2)


RIGHT_ONES = {
    "softmax": (nn.Softmax(dim=-1), softmax_by_logsumexp, softmax_row_by_row),
    "scaled_dot_product_attention": (attention_of_torch, attention_by_einsum, attention_by_adding),
    "split_heads": (split_by_chunk, split_by_view, split_by_slices),
    "join_heads": (join_by_cat, join_by_reshape, join_by_einsum),
    "multi_head_attention": (heads_in_a_loop, heads_as_a_sum, heads_by_torch),
    "token_embedding": (embedding_of_torch, embedding_by_one_hot, embedding_token_by_token),
    "sinusoidal_positions": (
        sinusoids_by_assignment,
        sinusoids_number_by_number,
        sinusoids_as_complex,
    ),
    "layer_norm": (norm_of_torch, norm_by_var_mean, norm_in_double),
    "feed_forward": (network_by_linear, network_by_clamp, network_by_where),
    "residual": (residual_step_by_step, residual_by_add, residual_by_stack),
    "encoder_layer": (encoder_with_names, encoder_in_a_loop, encoder_with_a_full_mask),
    "decoder_layer": (decoder_with_names, decoder_in_a_loop, decoder_with_full_masks),
    "causal_mask": (
        causal_by_comparison,
        causal_cell_by_cell,
        lambda size: ~torch.triu(torch.ones(size, size), diagonal=1).bool(),
    ),
    "padding_mask": (padding_by_unsqueeze, padding_by_view, padding_sentence_by_sentence),
    "label_smoothing_loss": (loss_of_torch, loss_by_targets, loss_token_by_token),
    "noam_rate": (module_noam_rate, noam_in_two_cases, noam_of_numpy),
    "merge_pair": (merge_by_a_stack, merge_by_recursion, merge_by_regex),
    "greedy_search": (greedy_with_while, greedy_by_recursion, greedy_with_tensors),
    "beam_step": (beam_by_sorting, beam_candidate_by_candidate, beam_prefix_by_prefix),
    "training_flops": (flops_counted_by_torch, flops_by_products, flops_factored),
    "paired_interval": (interval_of_the_module, interval_of_numpy, interval_of_torch),
    "bracketing_f1": (f1_by_removing, f1_by_precision_and_recall, f1_of_numbered_sentences),
    "rms_norm": (rms_of_torch, rms_by_norm, rms_by_einsum),
    "rotate": (rotate_as_complex, rotate_of_the_module, rotate_by_matrices),
    "gated_unit": (gated_by_sigmoid, gated_by_linear, gated_in_one_product),
}
