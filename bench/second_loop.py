"""The basic experiment once more, written from the paper's text and the conventions of docs/reproduction.md alone.

It shares nothing with the package: other environments, learners, solvers and random numbers. `bench.definitions` compares
the two.

Where the text is silent:
- actions are listed north, east, south, west on grid (in traps reset, free), and up, down, stay for the aircraft;
- the policy takes, in every state, the first of the actions whose value against the optimal values is within 1e-12 of the best,
  relative to the value of the state, and the estimate is the worst case of that policy. On chain, where values agree in all
  their digits and such choices add up to orders of magnitude, the first of those that are as good to the last (`literal`: as
  elsewhere; then the first action is taken almost everywhere, and the policy is far from optimal on the learned model);
- the estimation error is the estimate less the performance, also on chain, where less is better;
- UCRL2 counts all states of the model, and all steps up to the end of the iteration.
"""

import argparse
import math
import os
import time

import numpy as np
from numba import njit

TOL = 1e-12
EPS = 1e-4
GAMMA = 0.01
ALPHA = 10.0


# ------------------------------------------------------------------ models
class Model:
    def __init__(self, name, init, table, rewards, spec, target, avoid, H):
        """table[s] = list of actions, each a dict successor->p; rewards[s] = list of rewards."""
        self.name, self.init, self.spec, self.H = name, init, spec, H
        self.n = len(table)
        self.target = np.zeros(self.n, bool)
        self.target[list(target)] = True
        self.avoid = np.zeros(self.n, bool)
        self.avoid[list(avoid)] = True
        ps, ts, succ, p, rew, owner = [0], [0], [], [], [], []
        for s, acts in enumerate(table):
            for a, d in enumerate(acts):
                assert abs(sum(d.values()) - 1) < 1e-12
                for t in sorted(d):
                    succ.append(t)
                    p.append(d[t])
                ts.append(len(succ))
                rew.append(rewards[s][a])
                owner.append(s)
            ps.append(len(ts) - 1)
        self.ps = np.array(ps)
        self.ts = np.array(ts)
        self.succ = np.array(succ)
        self.p = np.array(p)
        self.rew = np.array(rew, float)
        self.owner = np.array(owner)
        self.npair = len(owner)
        self.m = np.diff(self.ts)  # successors per pair
        self.unc_pair = self.m > 1
        self.tp = np.repeat(np.arange(self.npair), self.m)  # pair of a transition
        self.unc = self.unc_pair[self.tp]
        self.p[~self.unc] = 1.0
        self.nact = np.diff(self.ps)
        self.analyse()

    def counts(self):
        return self.n, self.npair, len(self.succ), int(self.unc.sum())

    def succs(self, c):
        return self.succ[self.ts[c] : self.ts[c + 1]]

    def reach(self, goal, through):
        """States with some path to goal staying in `through` before it."""
        R = goal.copy()
        while True:
            new = R.copy()
            for s in range(self.n):
                ahead = (R[self.succs(c)].any() for c in range(self.ps[s], self.ps[s + 1]))
                if not R[s] and through[s] and any(ahead):
                    new[s] = True
            if (new == R).all():
                return R
            R = new

    def prob1e(self, goal, through):
        Z = np.ones(self.n, bool)
        while True:
            Y = goal.copy()
            while True:
                new = Y.copy()
                for s in range(self.n):
                    if not Y[s] and through[s]:
                        for c in range(self.ps[s], self.ps[s + 1]):
                            u = self.succs(c)
                            if Z[u].all() and Y[u].any():
                                new[s] = True
                if (new == Y).all():
                    break
                Y = new
            if (Y == Z).all():
                return Z
            Z = Y

    def prob1a(self, goal, through):
        # complement: states from which some policy avoids goal forever / leaves `through` with positive prob.
        # greatest set N of non-goal states that can stay away for ever:
        N = ~goal
        N0 = N & ~through
        while True:
            new = N.copy()
            for s in np.where(N & through)[0]:
                if not any(N[self.succs(c)].all() for c in range(self.ps[s], self.ps[s + 1])):
                    new[s] = False
            if (new == N).all():
                break
            N = new
        bad = N | N0
        return ~self.reach(bad, ~goal & ~bad)

    def analyse(self):
        """Restart states and values fixed by the graph."""
        self.fixed = np.zeros(self.n, bool)
        self.val = np.zeros(self.n)
        everything = np.ones(self.n, bool)
        if self.spec == "P":
            through = ~self.avoid
            goal = self.target.copy()
            assert not (goal & self.avoid).any()
            zero = ~self.reach(goal, through)
            one = self.prob1e(goal, through)
            assert (one == self.prob1a(goal, through)).all()
            self.fixed = zero | one
            self.val[one] = 1.0
        else:
            assert self.prob1e(self.target, everything).all()
            if self.spec == "Rmax":
                assert self.prob1a(self.target, everything).all()  # nowhere infinite
                pos = np.array([(self.rew[self.ps[s] : self.ps[s + 1]] > 0).any() for s in range(self.n)])
                pos &= ~self.target
                zero = ~self.reach(pos, ~self.target)
            else:
                # a zero-reward action outside the target would be needed for more; there is none
                out = ~self.target[self.owner]
                assert (self.rew[out] > 0).all()
                zero = self.target.copy()
            self.fixed = zero
        assert not self.fixed[self.init]
        self.sense = -1 if self.spec == "Rmin" else 1
        # topological order of the non-fixed states, None if cyclic
        free = [s for s in range(self.n) if not self.fixed[s]]
        nxt = {
            s: {t for c in range(self.ps[s], self.ps[s + 1]) for t in self.succs(c) if not self.fixed[t]} for s in free
        }
        state, order, cyc = {}, [], False
        import sys

        sys.setrecursionlimit(10000)

        def dfs(s):
            nonlocal cyc
            state[s] = 1
            for t in nxt[s]:
                if state.get(t) == 1:
                    cyc = True
                elif t not in state:
                    dfs(t)
            state[s] = 2
            order.append(s)  # successors first

        for s in free:
            if s not in state:
                dfs(s)
        self.order = None if cyc else np.array(order)
        self.free = np.array(free)
        self.loc = -np.ones(self.n, np.int64)
        self.loc[self.free] = np.arange(len(free))
        bw = 0
        for s in free:
            for t in nxt[s]:
                bw = max(bw, abs(self.loc[s] - self.loc[t]))
        self.bw = int(bw)


def chain():
    G = 30
    table, rew = [], []
    for s in range(G + 1):
        acts = []
        for f in (0.5, 0.05, 0.95):
            d = {}
            for t, q in ((min(s + 1, G), f), (0, 1 - f)):
                d[t] = d.get(t, 0) + q
            acts.append(d)
        table.append(acts)
        rew.append([1.0] * 3)
    return Model("chain", 0, table, rew, "Rmin", [G], [], 100)


def explore(init, step):
    idx, todo, table, rew = {init: 0}, [init], [], []
    i = 0
    while i < len(todo):
        acts, rs = [], []
        for dist, r in step(todo[i]):
            d = {}
            for t, q in dist:
                if t not in idx:
                    idx[t] = len(todo)
                    todo.append(t)
                d[idx[t]] = d.get(idx[t], 0.0) + q
            acts.append(d)
            rs.append(r)
        table.append(acts)
        rew.append(rs)
        i += 1
    return todo, table, rew


def aircraft():
    def cl(y):
        return max(0, min(2, y))

    def step(st):
        x, y, o = st
        if x == 5:
            return [([(st, 1.0)], 0.0)] * 3
        out = []
        for own in ([(1, 0.8), (0, 0.2)], [(-1, 0.8), (0, 0.2)], [(0, 1.0)]):
            out.append(
                (
                    [
                        ((x + 1, cl(y + d), cl(o + e)), q * w)
                        for d, q in own
                        for e, w in ((1, 0.3), (-1, 0.3), (0, 0.4))
                    ],
                    0.0,
                )
            )
        return out

    states, table, rew = explore((0, 1, 1), step)
    coll = [i for i, (x, y, o) in enumerate(states) if abs(x - (5 - x)) < 3 and abs(y - o) < 2]
    goal = [i for i, (x, y, o) in enumerate(states) if x == 5]
    return Model("aircraft", 0, table, rew, "P", goal, coll, 1000)


def grid():
    traps = {(0, 4), (1, 4), (3, 4), (4, 4), (5, 4), (8, 4), (9, 4), (4, 0), (4, 1), (4, 3), (4, 5), (4, 8), (4, 9)}
    dirs = [(0, -1), (1, 0), (0, 1), (-1, 0)]  # north, east, south, west (assumed order)

    def sid(x, y):
        return y * 10 + x

    def mv(x, y, d):
        a, b = x + d[0], y + d[1]
        return sid(a, b) if 0 <= a < 10 and 0 <= b < 10 else sid(x, y)

    table, rew = [], []
    for y in range(10):
        for x in range(10):
            acts = []
            if (x, y) in traps:
                acts.append({0: 1.0})  # reset, free (the order of the text)
                d = {sid(x, y): 0.6}
                for v in dirs:
                    t = mv(x, y, v)
                    d[t] = d.get(t, 0.0) + 0.1
                acts.append(d)
            else:
                for i in range(4):
                    d = {}
                    for j, v in enumerate(dirs):
                        t = mv(x, y, v)
                        d[t] = d.get(t, 0.0) + (0.55 if i == j else 0.15)
                    acts.append(d)
            table.append(acts)
            rew.append([0.0] * len(acts))
    return Model("grid", 0, table, rew, "P", [sid(9, 0)], [sid(*t) for t in traps], 200)


def bandit():
    table = [[{1: i / 100, 2: 1 - i / 100} for i in range(1, 100)], [{3: 1.0}], [{3: 1.0}], [{3: 1.0}]]
    return Model("bandit", 0, table, [[0.0] * 99, [1.0], [0.0], [0.0]], "Rmax", [3], [], 100)


def betting(win):
    def step(st):
        t, m = st
        if t == 7:
            return [([(st, 1.0)], 0.0)]
        if t == 6:
            return [([((7, m), 1.0)], float(m))]
        out = [([((t + 1, m), 1.0)], 0.0)]
        for b in (1, 2, 5, 10):
            if b <= m <= 60:
                out.append(([((t + 1, m + b), win), ((t + 1, m - b), 1 - win)], 0.0))
        return out

    states, table, rew = explore((0, 10), step)
    done = [i for i, (t, m) in enumerate(states) if t == 7]
    assert len(done) == 65
    return Model("betting", 0, table, rew, "Rmax", done, [], 7)


ENVS = {
    "chain": (chain, (31, 93, 186, 186), 73.1798135276),
    "aircraft": (aircraft, (46, 138, 406, 379), 0.3024),
    "grid": (grid, (100, 374, 1450, 1437), 0.34895503),
    "bandit": (bandit, (4, 102, 201, 198), 0.99),
    "betting-favourable": (lambda: betting(0.8), (300, 901, 1502, 1202), 39.36256),
    "betting-unfavourable": (lambda: betting(0.2), (300, 901, 1502, 1202), 10.0),
}


# ------------------------------------------------------------------ kernels
@njit(cache=True)
def extreme(b, e, succ, lo, hi, V, mx, out):
    """Extreme expectation of V over the interval distributions of transitions b..e; out gets the p's."""
    m = e - b
    idx = np.empty(m, np.int64)
    for i in range(m):
        v = V[succ[b + i]]
        j = i
        while j > 0 and ((V[succ[b + idx[j - 1]]] < v) if mx else (V[succ[b + idx[j - 1]]] > v)):
            idx[j] = idx[j - 1]
            j -= 1
        idx[j] = i
    left = 1.0
    for i in range(m):
        left -= lo[b + i]
        out[i] = lo[b + i]
    for r in range(m):
        i = idx[r]
        room = hi[b + i] - lo[b + i]
        if left <= 0:
            break
        if room <= left:
            out[i] = hi[b + i]
            left -= room
        else:
            out[i] = lo[b + i] + left
            left = 0.0
    q = 0.0
    for i in range(m):
        q += out[i] * V[succ[b + i]]
    return q


@njit(cache=True)
def choose(Q, n, sense, seq, tol):
    """The tie rule; sense +1: larger is better."""
    if seq:
        k = 0
        best = Q[0]
        top = Q[0]
        for a in range(1, n):
            if sense * (Q[a] - top) > 0:
                top = Q[a]
        for a in range(1, n):
            if sense * (Q[a] - best) > tol * abs(top):
                k = a
                best = Q[a]
        return k
    top = Q[0]
    for a in range(1, n):
        if sense * (Q[a] - top) > 0:
            top = Q[a]
    for a in range(n):
        if sense * (top - Q[a]) <= tol * abs(top):
            return a
    return 0


@njit(cache=True)
def acyclic(order, ps, ts, succ, rew, lo, hi, val, sense, mx, seq, pol, given):
    """Backward induction; if given: only evaluates pol, else fills pol. mx: does nature maximise."""
    V = val.copy()
    buf = np.empty(32)
    Q = np.empty(128)
    for s in order:
        b = ps[s]
        n = ps[s + 1] - b
        if given:
            c = b + pol[s]
            V[s] = rew[c] + extreme(ts[c], ts[c + 1], succ, lo, hi, V, mx, buf)
        else:
            best = 0.0
            for a in range(n):
                c = b + a
                Q[a] = rew[c] + extreme(ts[c], ts[c + 1], succ, lo, hi, V, mx, buf)
                if a == 0 or sense * (Q[a] - best) > 0:
                    best = Q[a]
            V[s] = best
            pol[s] = choose(Q, n, sense, seq, 1e-12)
    return V


@njit(cache=True)
def gth(A, out, r, bw, n):
    """Expected r until absorption; subtraction-free elimination; the diagonal is never used."""
    d = np.empty(n)
    for k in range(n - 1, -1, -1):
        left = max(0, k - bw)
        t = out[k]
        for j in range(left, k):
            t += A[k, j]
        d[k] = t
        for i in range(left, k):
            if A[i, k] > 0:
                f = A[i, k] / t
                for j in range(left, k):
                    A[i, j] += f * A[k, j]
                out[i] += f * out[k]
                r[i] += f * r[k]
    V = np.empty(n)
    for k in range(n):
        left = max(0, k - bw)
        t = r[k]
        for j in range(left, k):
            t += A[k, j] * V[j]
        V[k] = t / d[k]
    return V


@njit(cache=True)
def gth_pol(free, loc, bw, fixed, val, ps, ts, succ, pol, P, V):
    """Value (probability spec) of pol under transition probabilities P (rows of the chosen pairs); into V."""
    n = len(free)
    A = np.zeros((n, n))
    out = np.zeros(n)
    r = np.zeros(n)
    for i in range(n):
        s = free[i]
        c = ps[s] + pol[s]
        for k in range(ts[c], ts[c + 1]):
            t = succ[k]
            if fixed[t]:
                out[i] += P[k]
                r[i] += P[k] * val[t]
            elif t != s:
                A[i, loc[t]] += P[k]
    W = gth(A, out, r, bw, n)
    for i in range(n):
        V[free[i]] = W[i]


ULP = 3e-15


@njit(cache=True)
def respond(free, loc, bw, fixed, val, ps, ts, succ, lo, hi, pol, P, V, mx):
    """Nature's best answer to pol: policy iteration over nature; V must be any guess, P is filled."""
    buf = np.empty(32)
    for s in free:
        c = ps[s] + pol[s]
        extreme(ts[c], ts[c + 1], succ, lo, hi, V, mx, buf)
        for k in range(ts[c], ts[c + 1]):
            P[k] = buf[k - ts[c]]
    sg = 1.0 if mx else -1.0
    for it in range(500):
        gth_pol(free, loc, bw, fixed, val, ps, ts, succ, pol, P, V)
        changed = False
        for s in free:
            c = ps[s] + pol[s]
            cur = 0.0
            for k in range(ts[c], ts[c + 1]):
                cur += P[k] * V[succ[k]]
            q = extreme(ts[c], ts[c + 1], succ, lo, hi, V, mx, buf)
            if sg * (q - cur) > ULP * V[s]:
                changed = True
                for k in range(ts[c], ts[c + 1]):
                    P[k] = buf[k - ts[c]]
        if not changed:
            return it
    return -1


@njit(cache=True)
def cyclic(free, loc, bw, fixed, val, ps, ts, succ, lo, hi, mx, seq, pol, step, extract):
    """Probability spec, agent maximises. pol: start, overwritten by the tie-rule policy of V*."""
    V = val.copy()
    P = np.zeros(len(succ))
    buf = np.empty(32)
    Q = np.empty(128)
    done = False
    for _it in range(500):
        if respond(free, loc, bw, fixed, val, ps, ts, succ, lo, hi, pol, P, V, mx) < 0:
            return V, False
        changed = False
        for s in free:
            k = pol[s]
            best = V[s] * (1 + step)
            for a in range(ps[s + 1] - ps[s]):
                c = ps[s] + a
                q = extreme(ts[c], ts[c + 1], succ, lo, hi, V, mx, buf)
                if q > best:
                    best = q
                    k = a
            if k != pol[s]:
                pol[s] = k
                changed = True
        if not changed:
            done = True
            break
    if not extract:
        return V, done
    for s in free:
        n = ps[s + 1] - ps[s]
        for a in range(n):
            c = ps[s] + a
            Q[a] = extreme(ts[c], ts[c + 1], succ, lo, hi, V, mx, buf)
        pol[s] = choose(Q, n, 1, seq, 1e-12)
    return V, done


@njit(cache=True)
def trajectories(init, H, restart, ps, ts, succ, cum, pol, unc_pair, n_i, k_i, n_tot, budget):
    """Whole trajectories until an iteration ends or the budget is used. -> trajectories, steps, ended."""
    done = 0
    steps = 0
    ended = False
    while done < budget and not ended:
        s = init
        for _h in range(H):
            c = ps[s] + pol[s]
            b = ts[c]
            e = ts[c + 1]
            k = b
            if e - b > 1:
                u = np.random.random()  # noqa: NPY002
                while k < e - 1 and u >= cum[k]:
                    k += 1
            n_i[c] += 1
            k_i[k] += 1
            steps += 1
            if unc_pair[c] and n_i[c] >= max(1, n_tot[c]):
                ended = True
            s = succ[k]
            if restart[s]:
                break
        done += 1
    return done, steps, ended


@njit(cache=True)
def seed_numba(x):
    np.random.seed(x)  # noqa: NPY002


# ------------------------------------------------------------------ solving
def chain_eval(p):
    """Value of the start of the chain with forward probabilities p (subtraction-free)."""
    D = 0.0
    for q in p:
        D = (D + 1) / q
    return D


def chain_all(p):
    n = len(p)
    D = np.zeros(n + 1)
    for s in range(n):
        D[s + 1] = (D[s] + 1) / p[s]
    V = np.zeros(n + 1)
    q = 0.0
    c = 0.0
    for s in range(n - 1, -1, -1):
        c = 1 + p[s] * c
        q = (1 - p[s]) + p[s] * q
        V[s] = c + q * D[n]
    return D, V  # D[s] = V(0) - V(s)


class Solver:
    def __init__(self, M, ties):
        self.M, self.seq, self.ties = M, ties == "seq", ties
        self.kind = "chain" if M.name == "chain" else ("acyclic" if M.order is not None else "cyclic")
        if ties == "pi":
            assert self.kind != "acyclic"
        if self.kind == "chain":
            G = M.n - 1
            self.f = np.array(
                [
                    [
                        next(k for k in range(M.ts[c], M.ts[c + 1]) if M.succ[k] == s + 1)
                        for c in range(M.ps[s], M.ps[s + 1])
                    ]
                    for s in range(G)
                ]
            )
            self.b = np.array(
                [
                    [
                        next(k for k in range(M.ts[c], M.ts[c + 1]) if M.succ[k] == 0)
                        for c in range(M.ps[s], M.ps[s + 1])
                    ]
                    for s in range(G)
                ]
            )
        self.warm = {}

    def forward(self, lo, hi, robust):
        if robust:
            return np.maximum(lo[self.f], 1 - hi[self.b])
        return np.minimum(hi[self.f], 1 - lo[self.b])

    def policy(self, lo, hi, robust):
        """The tie-rule policy, and V*."""
        M = self.M
        mx = (M.sense > 0) != robust
        if self.kind == "chain":
            p = self.forward(lo, hi, robust)
            top = p.max(1)
            pol = np.zeros(M.n, np.int64)
            if self.ties == "pi":
                n = M.n - 1
                for _it in range(1000):
                    cur = p[np.arange(n), pol[:-1]]
                    D, V = chain_all(cur)
                    new = pol.copy()
                    for s in range(n):
                        if (top[s] - cur[s]) * D[s + 1] > TOL * V[s]:
                            new[s] = np.argmax((top[s] - p[s]) * D[s + 1] <= TOL * V[s])
                    if (new == pol).all():
                        break
                    pol = new
                return pol, V
            D, V = chain_all(top)
            for s in range(M.n - 1):
                gap = (top[s] - p[s]) * D[s + 1]  # Q(s,a) - min Q >= 0
                if self.ties == "best":
                    pol[s] = np.argmax(top[s] - p[s] <= TOL)
                elif self.seq:
                    k = 0
                    for a in range(1, 3):
                        if gap[k] - gap[a] > TOL * V[s]:
                            k = a
                    pol[s] = k
                else:
                    pol[s] = np.argmax(gap <= TOL * V[s])
            return pol, V
        if self.kind == "acyclic":
            pol = np.zeros(M.n, np.int64)
            V = acyclic(M.order, M.ps, M.ts, M.succ, M.rew, lo, hi, M.val, M.sense, mx, self.seq, pol, False)
            return pol, V
        if self.ties == "pi":
            pol = np.zeros(M.n, np.int64)
            V, ok = cyclic(M.free, M.loc, M.bw, M.fixed, M.val, M.ps, M.ts, M.succ, lo, hi, mx, False, pol, TOL, False)
            assert ok
            return pol, V
        pol = self.warm.get(robust)
        pol = np.zeros(M.n, np.int64) if pol is None else pol.copy()
        V, ok = cyclic(M.free, M.loc, M.bw, M.fixed, M.val, M.ps, M.ts, M.succ, lo, hi, mx, self.seq, pol, ULP, True)
        assert ok
        self.warm[robust] = pol
        return pol.copy(), V

    def value(self, lo, hi, pol, robust=True):
        """worst-case (robust) value at the start of pol."""
        M = self.M
        mx = (M.sense > 0) != robust
        if self.kind == "chain":
            p = self.forward(lo, hi, robust)
            return chain_eval(p[np.arange(M.n - 1), pol[:-1]])
        if self.kind == "acyclic":
            return acyclic(M.order, M.ps, M.ts, M.succ, M.rew, lo, hi, M.val, M.sense, mx, self.seq, pol, True)[M.init]
        V = M.val.copy()
        P = np.zeros(len(M.succ))
        assert respond(M.free, M.loc, M.bw, M.fixed, M.val, M.ps, M.ts, M.succ, lo, hi, pol, P, V, mx) >= 0
        return V[M.init]


# ------------------------------------------------------------------ learners
class LUI:
    def __init__(self, M):
        self.M = M
        self.lo = np.where(M.unc, EPS, 1.0)
        self.hi = np.where(M.unc, 1 - EPS, 1.0)
        self.n = np.full(M.npair, 5.0)
        self.N = np.full(M.npair, 10.0)  # strength [5,10]

    def update(self, n_i, k_i, n_tot, k_tot, steps):
        M = self.M
        on = M.unc_pair & (n_i > 0)
        t = on[M.tp]
        cnt = np.maximum(n_i, 1)[M.tp].astype(float)
        frac = k_i / cnt
        below = np.zeros(M.npair, bool)
        above = np.zeros(M.npair, bool)
        below[M.tp[t & (frac < self.lo)]] = True
        above[M.tp[t & (frac > self.hi)]] = True
        sl = np.where(below, self.n, self.N)[M.tp]
        su = np.where(above, self.n, self.N)[M.tp]
        self.lo = np.where(t, (sl * self.lo + k_i) / (sl + cnt), self.lo)
        self.hi = np.where(t, (su * self.hi + k_i) / (su + cnt), self.hi)
        self.n = self.n + np.where(on, n_i, 0)
        self.N = self.N + np.where(on, n_i, 0)


class Point:
    def __init__(self, M):
        self.M = M
        self.update(None, None, np.zeros(M.npair, np.int64), np.zeros(len(M.succ), np.int64), 0)

    def mode(self, n_tot, k_tot):
        M = self.M
        return np.where(M.unc, (ALPHA - 1 + k_tot) / ((ALPHA - 1) * M.m + n_tot)[M.tp], 1.0)


class MAP(Point):
    def update(self, n_i, k_i, n_tot, k_tot, steps):
        self.lo = self.mode(n_tot, k_tot)
        self.hi = self.lo.copy()


class PAC(Point):
    def update(self, n_i, k_i, n_tot, k_tot, steps):
        M = self.M
        p = self.mode(n_tot, k_tot)
        g = GAMMA / M.unc.sum()
        d = np.sqrt(math.log(2 / g) / (2.0 * np.maximum(n_tot, 1)))
        d = np.where(n_tot > 0, d, np.inf)[M.tp]  # no sample: [eps, 1]
        self.lo = np.where(M.unc, np.maximum(EPS, p - d), 1.0)
        self.hi = np.where(M.unc, np.minimum(p + d, 1.0), 1.0)


class UCRL2(Point):
    def update(self, n_i, k_i, n_tot, k_tot, steps):
        M = self.M
        p = self.mode(n_tot, k_tot)
        t = max(1, steps)
        d = np.sqrt(14.0 * M.n * np.log(2.0 * M.nact[M.owner] * t / GAMMA) / np.maximum(1, n_tot))[M.tp]
        self.lo = np.where(M.unc, np.maximum(EPS, p - d), 1.0)
        self.hi = np.where(M.unc, np.minimum(p + d, 1.0), 1.0)


LEARNERS = {"lui": LUI, "pac": PAC, "map": MAP, "ucrl2": UCRL2}


# ------------------------------------------------------------------ loop
def make(env):
    f, counts, opt = ENVS[env]
    M = f()
    assert M.counts() == counts, (env, M.counts(), counts)
    S = Solver(M, "best")
    pol, V = S.policy(M.p, M.p, True)
    v = S.value(M.p, M.p, pol)
    assert abs(v - opt) <= 1e-8 * max(1, opt) * 1.01, (env, v, opt)
    assert abs(V[M.init] - v) <= 1e-11 * v
    M.cum = np.concatenate([np.cumsum(M.p[M.ts[c] : M.ts[c + 1]]) for c in range(M.npair)])
    return M


def run(M, learner, seed, budget, ties="best", trace=None):
    S = Solver(M, ties)
    L = LEARNERS[learner](M)
    seed_numba(seed * 7919 + 101 * list(LEARNERS).index(learner) + 17 * (sum(map(ord, M.name)) % 97))
    n_tot = np.zeros(M.npair, np.int64)
    k_tot = np.zeros(len(M.succ), np.int64)
    marks = [a for a in (10, 100, 1000, 10000, 100000, 1000000) if a <= budget]
    rows = {}
    trajs = steps = it = 0

    def measure():
        assert (L.lo[M.unc] > 0).all()
        assert (L.lo <= L.hi).all()
        pol, _ = S.policy(L.lo, L.hi, True)
        perf = S.value(M.p, M.p, pol)
        est = S.value(L.lo, L.hi, pol, True)
        d = np.maximum(np.abs(M.p - L.lo), np.abs(M.p - L.hi))[M.unc].mean()
        if trace is not None:
            trace(it, trajs, L, pol, perf, est)
        return pol, (it, trajs, steps, perf, est, est - perf, d)

    rob, cur = measure()
    while True:
        for a in marks:
            if trajs <= a:
                rows[a] = cur  # the last whole iteration at or before a
        if trajs >= budget:
            break
        expl = rob if learner == "map" else S.policy(L.lo, L.hi, False)[0]
        n_i = np.zeros_like(n_tot)
        k_i = np.zeros_like(k_tot)
        dt, ds, ended = trajectories(
            M.init, M.H, M.fixed, M.ps, M.ts, M.succ, M.cum, expl, M.unc_pair, n_i, k_i, n_tot, budget - trajs
        )
        trajs += dt
        steps += ds
        if not ended:
            break  # partial iteration: no metric
        n_tot += n_i
        k_tot += k_i
        it += 1
        L.update(n_i, k_i, n_tot, k_tot, steps)
        rob, cur = measure()
    return [(seed, a) + rows[a] for a in marks]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--env", required=True, choices=list(ENVS))
    ap.add_argument("--learner", required=True, choices=list(LEARNERS))
    ap.add_argument("--seeds", default="0:10")
    ap.add_argument("--trajectories", type=int, default=10000)
    ap.add_argument("--ties", default="best", choices=["best", "literal", "seq", "pi"])
    ap.add_argument("--out", required=True)
    a = ap.parse_args()
    lo, hi = map(int, a.seeds.split(":"))
    M = make(a.env)
    t0 = time.time()
    tmp = a.out + ".part"
    with open(tmp, "w") as f:
        f.write("seed,at,iteration,trajectories,steps,performance,estimate,estimation_error,model_error\n")
        for s in range(lo, hi):
            for r in run(M, a.learner, s, a.trajectories, a.ties):
                f.write(",".join(repr(x.item() if hasattr(x, "item") else x) for x in r) + "\n")
            f.flush()
    os.replace(tmp, a.out)
    print(f"{a.env} {a.learner} {a.ties} seeds {a.seeds}: {time.time() - t0:.1f} s", flush=True)


if __name__ == "__main__":
    main()
