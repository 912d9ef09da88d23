"""Lean data-parallel trainer: bf16 model, float32 master weights, pooled dropout masks."""
import math, os, pickle, sys, time, json, argparse
from pathlib import Path
import torch, torch.nn.functional as F, torch.distributed as dist
from transformer.model import Transformer
from transformer.tasks.start import Start
from transformer.text.batching import TokenPairs, token_batches, make_batch
from transformer.training.loss import validation_loss
from transformer.weights import save_model
ap=argparse.ArgumentParser()
ap.add_argument('--start',default='book/models/everyday'); ap.add_argument('--data',default='everyday'); ap.add_argument('--out'); ap.add_argument('--steps',type=int)
ap.add_argument('--max-tokens',type=int,default=2048); ap.add_argument('--rate',type=float,default=8e-4); ap.add_argument('--warmup',type=int,default=500)
ap.add_argument('--cooldown',type=float,default=.5); ap.add_argument('--dropout',type=float,default=.15); ap.add_argument('--seconds',type=float,default=0)
ap.add_argument('--seed',type=int,default=1); ap.add_argument('--bench',type=float,default=0); ap.add_argument('--every',type=int,default=500)
ap.add_argument('--sync',type=int,default=20)
ap.add_argument('--word-dropout',type=float,default=0.0)
a=ap.parse_args()
torch.set_num_threads(1)
ddp='RANK' in os.environ
if ddp: dist.init_process_group('gloo'); rank,world=dist.get_rank(),dist.get_world_size()
else: rank,world=0,1
BF=torch.bfloat16
start=Start.load(a.start); model=start.model
C=model.config
from transformer.data.everyday import everyday_corpus
corpus=everyday_corpus(a.data)
enc=lambda T:list(zip(map(list,map(start.tokenizer.encode,T.source)),map(list,map(start.tokenizer.encode,T.target))))
data={'train':enc(corpus.train),**{k:enc(v) for k,v in corpus.splits.items()}}
train=TokenPairs.of(data['train'])
valid=data['valid.de-en'][:600]+data['valid.en-de'][:600]
master=dict(model.named_parameters())          # fp32, shared with the model
names=list(master)
half={n:p.detach().to(BF).requires_grad_() for n,p in master.items()}
opt=torch.optim.Adam(list(master.values()),lr=0,betas=(.9,.98),eps=1e-9,fused=True)
gen=torch.Generator().manual_seed(a.seed*1000+rank)
POOL=1<<24
def fresh(n): return (torch.rand(n,generator=gen)>=a.dropout).to(BF)/(1-a.dropout)
pool=fresh(POOL)
rnd=__import__('random').Random(a.seed*1000+rank)
def drop(x):
    n=x.numel(); o=rnd.randrange(POOL-n)
    return x*pool[o:o+n].view_as(x)
def refresh():
    n=POOL//50; o=rnd.randrange(POOL-n); pool[o:o+n]=fresh(n)
emb_name=[n for n in names if n.endswith('embedding.weight')]
assert len(emb_name)==1,emb_name
E=half[emb_name[0]]
pe=model.src_positions
table=None
for n,b in pe.named_buffers(): table=b
print(emb_name,table.shape) if rank==0 else None
table=table.to(BF)
H=C.n_heads
def P(pre): return half[pre]
def ln(x,pre): return F.layer_norm(x,(C.d_model,),P(pre+'.weight'),P(pre+'.bias'))
def heads(x): return x.unflatten(-1,(H,-1)).transpose(1,2)
def attn(x,mem,pre,mask):
    q=heads(x@P(pre+'.w_query.weight').T)
    k=heads(mem@P(pre+'.w_key.weight').T); v=heads(mem@P(pre+'.w_value.weight').T)
    B,Lq,Lk=q.size(0),q.size(2),k.size(2)
    s=torch.baddbmm(mask,q.reshape(B*H,Lq,-1),k.reshape(B*H,Lk,-1).transpose(1,2),alpha=1/math.sqrt(q.size(-1)))
    o=torch.bmm(s.softmax(-1),v.reshape(B*H,Lk,-1)).view(B,H,Lq,-1)
    return o.transpose(1,2).flatten(2)@P(pre+'.w_output.weight').T
def ff(x,pre): return F.linear(F.linear(x,P(pre+'.inner.weight'),P(pre+'.inner.bias')).relu_(),P(pre+'.outer.weight'),P(pre+'.outer.bias'))
def embed(t):
    x=F.embedding(t,E)*math.sqrt(C.d_model)
    if a.word_dropout: x=x*(torch.rand(x.shape[:2],generator=gen)>=a.word_dropout).to(BF).unsqueeze(-1)/(1-a.word_dropout)
    return drop(x+table[:t.size(1)])
def forward(src,tgt):
    keep=(src!=C.pad_id)
    mask=torch.zeros(keep.shape,dtype=BF).masked_fill_(~keep,-1e9)[:,None,None,:].expand(-1,H,1,-1).flatten(0,1)
    x=embed(src)
    for i in range(C.n_layers):
        l=f'encoder.layers.{i}.'
        h=ln(x,l+'self_attention_residual.norm'); x=x+drop(attn(h,h,l+'self_attention',mask))
        x=x+drop(ff(ln(x,l+'feed_forward_residual.norm'),l+'feed_forward'))
    m=ln(x,'encoder.norm')
    cm=mask
    causal_mask=torch.full((tgt.size(1),)*2,-1e9,dtype=BF).triu(1)[None]
    x=embed(tgt)
    for i in range(C.n_layers):
        l=f'decoder.layers.{i}.'
        h=ln(x,l+'self_attention_residual.norm'); x=x+drop(attn(h,h,l+'self_attention',causal_mask))
        h=ln(x,l+'cross_attention_residual.norm'); x=x+drop(attn(h,m,l+'cross_attention',cm))
        x=x+drop(ff(ln(x,l+'feed_forward_residual.norm'),l+'feed_forward'))
    return ln(x,'decoder.norm')
EPS=.1; V=C.tgt_vocab_size
class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx,h,W,y):
        gh=torch.empty_like(h); gW=torch.zeros(W.shape,dtype=torch.float32); total=0.
        for i in range(0,len(h),512):
            c=h[i:i+512]; t=y[i:i+512,None]
            z=(c@W.T).float()
            lse=z.logsumexp(-1,keepdim=True)
            zt=z.gather(1,t)
            total+=float((lse-(1-EPS)*zt-EPS*z.mean(-1,keepdim=True)).sum())
            g=z.sub_(lse).exp_().sub_(EPS/V); g.scatter_add_(1,t,torch.full_like(zt,-(1-EPS)))
            g=g.to(BF); gh[i:i+512]=g@W; gW+=(g.T@c)
        ctx.save_for_backward(gh,gW.to(BF)); ctx.total=total
        return torch.tensor(total)
    @staticmethod
    def backward(ctx,go):
        gh,gW=ctx.saved_tensors
        return gh,gW,None
flat_n=sum(p.numel() for p in master.values())
def batches():
    e=0
    while True:
        lst=list(token_batches(train,a.max_tokens,seed=a.seed*1_000_003+e))
        lst=lst[:len(lst)//world*world]
        for b in lst[rank::world]: yield e,b
        e+=1
marks=dict(bos_id=1,eos_id=2,pad_id=C.pad_id)
from transformer.text import BOS_ID,EOS_ID
marks.update(bos_id=BOS_ID,eos_id=EOS_ID)
out=Path(a.out) if a.out else None
if out and rank==0: out.mkdir(parents=True,exist_ok=True)
def rate(s):
    r=a.rate*min(s/a.warmup,math.sqrt(a.warmup/s))
    c=int(a.steps*a.cooldown)
    if s>a.steps-c: r*=(a.steps-s)/c
    return r
shm=[[torch.from_file(f'/dev/shm/lean{os.environ.get("MASTER_PORT","0")}_{r}_{k}',shared=True,size=flat_n+4,dtype=torch.float32) for k in (0,1)] for r in range(world)]
flat=torch.empty(flat_n+2,dtype=torch.float32)
it=batches(); T=time.time(); lastT=T; tok=0; ls=0.; lt=0; alltok=0
s=0
while s<(a.steps or 10**9):
    s+=1
    e,idx=next(it)
    b=make_batch([train[i] for i in idx],**marks)
    hid=forward(b.src,b.tgt_in)
    sel=(b.tgt_out!=C.pad_id)
    loss=Loss.apply(hid[sel],E,b.tgt_out[sel])
    loss.backward()
    N=int(sel.sum()); L=float(loss.detach())
    for n in names: master[n].grad=half[n].grad.float().div_(N); half[n].grad=None
    for g in opt.param_groups: g['lr']=rate(s) if a.steps else 1e-5
    opt.step()
    if ddp and s%a.sync==0:
        own=shm[rank][0]; o=0
        for n in names: k=master[n].numel(); own[o:o+k]=master[n].detach().view(-1); o+=k
        dist.barrier(); mean=(shm[0][0]+shm[1][0])/2; dist.barrier(); o=0
        with torch.no_grad():
            for n in names: k=master[n].numel(); master[n].copy_(mean[o:o+k].view_as(master[n])); o+=k
    with torch.no_grad():
        torch._foreach_copy_(list(half.values()),list(master.values()))
    refresh()
    ls+=L; lt+=N; alltok+=N
    if a.bench:
        if s==5: T=time.time(); alltok=0
        if s>5 and time.time()-T>a.bench:
            if rank==0: print(a.max_tokens,'tok/s',alltok/(time.time()-T),'steps/s',(s-5)/(time.time()-T),'loss',ls/lt)
            os._exit(0)
        continue
    if s%100==0 and rank==0:
        print(f'{s} epoch {e} loss {ls/lt:.4f} rate {rate(s):.2e} tok/s/worker {lt/(time.time()-lastT):.0f} {time.time()-T:.0f}s',flush=True); ls=lt=0; lastT=time.time()
    if (s%a.every==0 or s==a.steps) and rank==0:
        model.eval()
        print('valid',s,validation_loss(model,valid,smoothing=.1),flush=True)
        save_model(out/f'step{s}.safetensors',model)
        torch.save({'args':vars(a),'opt':opt.state_dict(),'step':s},out/'opt.pt.tmp'); os.replace(out/'opt.pt.tmp',out/'opt.pt')
        model.train(); lastT=time.time()
if ddp: dist.barrier()
