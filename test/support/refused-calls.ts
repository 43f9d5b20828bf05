import { vi } from 'vitest';
import type { Team } from './team.ts';

/** Long enough for a busy machine: it ends as soon as the call was refused. */
const PATIENCE = { timeout: 30_000, interval: 10 };

/** Waits until Slack has refused a call of this method; to this user or channel, if one is named. */
export async function untilRefused({ slack }: Pick<Team, 'slack'>, method: string, to = ''): Promise<void> {
  const isTo = new RegExp(`\\bchannel"?[=:]"?${to}`);
  const isRefused = () =>
    slack
      .traffic()
      .some(
        ({ what, request, response }) =>
          what === method && isTo.test(request) && response.includes('"ok":false'),
      );
  await vi.waitUntil(isRefused, PATIENCE);
}
