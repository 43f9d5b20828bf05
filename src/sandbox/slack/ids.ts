import { randomBytes } from 'node:crypto';
import type { SlackClock } from './clock.ts';

/** Makes ids and timestamps in Slack's manner, never the same twice. */
export interface Ids {
  /** `1700000000.000100`: seconds, and a number that only grows. */
  ts(): string;
  /** A prefix and ten characters: `V0…`. */
  id(prefix: string): string;
  /** Random characters. */
  secret(): string;
}

/** Makes a source of ids for one workspace; its timestamps come after `lastTs`. */
export function createIds(clock: SlackClock, lastTs = '0.0'): Ids {
  let [lastSecond = 0, count = 0] = lastTs.split('.').map(Number);
  return {
    ts: () => {
      lastSecond = Math.max(lastSecond, Math.floor(clock.now() / 1000));
      count += 1;
      return `${lastSecond}.${String(count).padStart(6, '0')}`;
    },
    id: (prefix) => `${prefix}${randomBytes(8).toString('hex').toUpperCase().slice(0, 10)}`,
    secret: () => randomBytes(12).toString('hex'),
  };
}
