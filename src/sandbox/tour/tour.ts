import { z } from 'zod';
import type { Account } from '../hosting/accounts.ts';
import type { HostingService } from '../hosting/hosting.ts';
import type { TourStep } from '../panel/panel-api.ts';
import type { SlackEvent } from '../slack/journal.ts';
import { type Evidence, STEP_CHECKS } from './step-checks.ts';
import { STEPS, type StepId } from './steps.ts';

const moment = z.number().optional();

/** When each step was done, epoch milliseconds of the real clock: the stored part of the tour. */
export const tourSchema = z.strictObject({
  connect: moment,
  create: moment,
  reboot: moment,
  lose: moment,
  delete: moment,
});

export type TourDone = z.output<typeof tourSchema>;

export interface TourParts extends Omit<Evidence, 'hasShownPassword'> {
  /** The steps that were done in an earlier process. */
  readonly done?: TourDone | undefined;
  readonly now: () => number;
}

/** The guided tour: five steps, each complete once it has really happened. */
export class Tour {
  readonly #evidence: Evidence;
  readonly #now: () => number;
  readonly #listeners = new Set<(steps: readonly TourStep[]) => void>();
  readonly #shown = new Set<string>();
  #done: TourDone;

  constructor({ done, now, ...parts }: TourParts) {
    this.#done = { ...done };
    this.#now = now;
    this.#evidence = {
      ...parts,
      hasShownPassword: (userId, serverId) => this.#shown.has(`${userId} ${serverId}`),
    };
  }

  steps(): readonly TourStep[] {
    return STEPS.map((step) => {
      const doneAt = this.#done[step.id] ?? null;
      return { ...step, isDone: doneAt !== null, doneAt };
    });
  }

  /** What outlives the process. */
  snapshot(): TourDone {
    return { ...this.#done };
  }

  /** Calls the listener whenever a step is done; the returned function ends that. */
  onStep(listener: (steps: readonly TourStep[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Records which root password was shown to whom: the message is gone as soon as the password is saved. */
  observe(event: SlackEvent): void {
    if (this.#done.create !== undefined || !('message' in event) || event.type === 'message_deleted') return;
    const { to, blocks } = event.message;
    if (to === undefined || blocks.length === 0) return;
    const written = JSON.stringify(blocks);
    const { hosting, account } = this.#evidence;
    for (const serverId of findServersIn(written, hosting, account)) this.#shown.add(`${to} ${serverId}`);
  }

  /** Checks the steps that are not done yet. */
  async check(): Promise<void> {
    const open = STEPS.map(({ id }) => id).filter((id) => this.#done[id] === undefined);
    const happened: StepId[] = [];
    for (const id of open) if (await STEP_CHECKS[id](this.#evidence)) happened.push(id);
    if (happened.length === 0) return;
    const at = this.#now();
    this.#done = { ...this.#done, ...Object.fromEntries(happened.map((id) => [id, at])) };
    for (const listener of [...this.#listeners]) listener(this.steps());
  }
}

/** The servers whose root password is contained in a JSON text. */
function findServersIn(written: string, hosting: HostingService, account: Account): readonly number[] {
  return hosting
    .charges(account)
    .map(({ serverId }) => serverId)
    .filter((id) => id !== undefined)
    .filter((id) => {
      const password = hosting.passwordOf(id);
      return password !== undefined && written.includes(JSON.stringify(password).slice(1, -1));
    });
}
