import type { CallLimiter, Job } from './call-limiter.ts';

/** Makes one limiter of several: a call takes a slot in each, one after the other, and leaves when it has all. */
export function joinLimiters(limiters: readonly CallLimiter[]): CallLimiter {
  const [outer, ...others] = limiters;
  if (!outer) throw new RangeError('there is no limiter to join');
  if (others.length === 0) return outer;
  const inner = joinLimiters(others);
  return {
    run: <Answer>(job: Job<Answer>) => {
      const { urgency, onWait } = job;
      const send = (waitedMs: number) =>
        inner.run({ ...job, send: (waitedMoreMs) => job.send(waitedMs + waitedMoreMs) });
      return outer.run({ urgency, onWait, send });
    },
    pause: (ms) => {
      for (const limiter of limiters) limiter.pause(ms);
    },
    // The tightest one decides, and a call waits in one at a time.
    budget: () => {
      const budgets = limiters.map((limiter) => limiter.budget());
      const { limit } = outer.budget();
      return {
        limit,
        taken: Math.max(...budgets.map(({ taken }) => taken)),
        waiting: budgets.reduce((sum, { waiting }) => sum + waiting, 0),
      };
    },
    isIdle: (idleMs) => limiters.every((limiter) => limiter.isIdle(idleMs)),
  };
}
