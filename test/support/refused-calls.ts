import { until } from './eventually.ts';
import type { Team } from './team.ts';

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
  await until(isRefused);
}
