import type { CallLimiter, CallSlot, Job } from './call-limiter.ts';

/**
 * Combines several limiters: a call takes a slot in each, one after the other, and is sent when it has all of them. A slot
 * that it has held while it waited for the others is taken again, since other processes would free it too early.
 */
export function joinLimiters(limiters: readonly CallLimiter[]): CallLimiter {
  const [outer, ...others] = limiters;
  if (!outer) throw new RangeError('there is no limiter to join');
  if (others.length === 0) return outer;
  const inner = joinLimiters(others);
  return {
    run: <Answer>(job: Job<Answer>) => {
      const { urgency, caller, onWait } = job;
      let isSent = false;
      const send = (waitedMs: number, slot: CallSlot) => {
        const beforeSend = async () => {
          await slot.takeAgain();
          await job.beforeSend?.();
          slot.check();
        };
        const sendNow = (waitedMoreMs: number, last: CallSlot) => {
          isSent = true;
          return job.send(waitedMs + waitedMoreMs, last);
        };
        return inner.run({ ...job, beforeSend, send: sendNow });
      };
      // What another limiter or the caller held back was never sent: its slot is free again at once.
      return outer.run({ urgency, caller, onWait, send, isSent: () => isSent });
    },
    pause: (ms) => {
      for (const limiter of limiters) limiter.pause(ms);
    },
    // The tightest limiter decides, and a call waits in one limiter at a time.
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
