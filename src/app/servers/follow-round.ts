import { describeDefect } from '../../domain/errors.ts';
import { isOver } from '../../domain/followed-act.ts';
import type { HostingApi } from '../hosting-api.ts';
import type { AppContext } from '../ports.ts';
import { findAccountOf, followAccount, followLost, LEASE_MS, tellOver } from './follow-acts.ts';
import { createFollowClock } from './follow-clock.ts';
import type { TakenAct } from './ports.ts';

const MOST_AT_ONCE = 200;

type Roles = Parameters<typeof followAccount>[2]['roles'];

/** Follows acts of all workspaces, as one of the processes that share the store. */
export interface Follower {
  /** Takes what is due, and looks at it aside: an account that doesn't answer must not hold up the others. @throws what the store throws */
  startRound(): Promise<void>;
  /** Resolves when the running looks have ended, and other processes can take the acts. */
  drain(): Promise<void>;
}

export function createFollower(app: AppContext, roles: Roles): Follower {
  const { system, followedActs, log } = app;
  const owner = system.newId();
  const clock = createFollowClock(system);
  const following = { app, roles, clock, owner };
  const busy = new Set<string>();
  const running = new Set<Promise<void>>();
  const run = (acts: readonly TakenAct[], work: () => Promise<void>) => {
    for (const { id } of acts) busy.add(id);
    const ended: Promise<void> = work()
      .catch((error: unknown) => log.warn('acts could not be followed', describeDefect(error)))
      .finally(() => {
        for (const { id } of acts) busy.delete(id);
        running.delete(ended);
      });
    running.add(ended);
  };
  return {
    startRound: async () => {
      const now = system.now();
      const lease = { owner, now, until: now + LEASE_MS };
      // One that is still being looked at only has its lease renewed by that.
      const taken = (await followedActs.take(lease, MOST_AT_ONCE)).filter(({ id }) => !busy.has(id));
      for (const act of taken.filter(isOver)) run([act], () => tellOver(act, following));
      const open = taken.filter((act) => !isOver(act));
      const { accounts, lost } = await groupByAccount(open, app);
      for (const { hosting, acts } of accounts) run(acts, () => followAccount(hosting, acts, following));
      for (const act of lost) run([act], () => followLost(act, following));
    },
    drain: async () => {
      await Promise.all(running);
      await followedActs.release(owner).catch((error: unknown) => {
        log.warn('followed acts could not be let go', describeDefect(error));
      });
    },
  };
}

/** Workspaces with one key are one account. An action whose account can't be found now is due again when its lease ends. */
async function groupByAccount(taken: readonly TakenAct[], app: AppContext) {
  const accounts = new Map<string, { readonly hosting: HostingApi; readonly acts: TakenAct[] }>();
  const lost: TakenAct[] = [];
  for (const act of taken) {
    const hosting = await findAccountOf(act, app);
    if (hosting === 'lost') lost.push(act);
    else if (hosting) {
      const group = accounts.get(hosting.account) ?? { hosting, acts: [] };
      group.acts.push(act);
      accounts.set(hosting.account, group);
    }
  }
  return { accounts: [...accounts.values()], lost };
}
