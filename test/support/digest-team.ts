import { DEFAULT_SETTINGS, type DigestSettings, type WorkspaceSettings } from '../../src/core/settings.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/core/time.ts';
import { HostingClock } from '../../src/sandbox/hosting/clock.ts';
import { movableSystem } from './movable-system.ts';
import { type RuledTeam, startRuledTeam } from './ruled-team.ts';
import type { TeamOptions } from './team.ts';

const DIGEST: DigestSettings = {
  channelId: 'C0OPS00001',
  hour: 9,
  zone: 'UTC',
  daysBefore: [7, 3, 1],
};

export interface DigestTeam extends RuledTeam {
  readonly system: ReturnType<typeof movableSystem>;
  /** Lets the time pass until that long after 09:16 (UTC) of a later day, when every digest of nine is due. */
  untilDigest(days?: number): void;
  /** Messages in #ops that begin like a digest, oldest first. */
  digests(): readonly string[];
  /** Renews on the hosting account's own page. */
  renewOutside(id: number): void;
  /** How often the list of servers was read. */
  listReads(): number;
}

/** A team in which time can be moved, with a digest in #ops at nine; it starts at eight. */
export async function startDigestTeam(
  settings: Partial<WorkspaceSettings> = {},
  options: TeamOptions = {},
): Promise<DigestTeam> {
  const system = movableSystem();
  const sinceMidnight = () => system.now() % DAY_MS;
  system.move(DAY_MS - sinceMidnight() + 8 * HOUR_MS);
  const team = await startRuledTeam(
    { ...DEFAULT_SETTINGS, digest: DIGEST, ...settings },
    { system, ...options, hosting: { clock: new HostingClock(system.now), ...options.hosting } },
  );
  return Object.assign(team, {
    system,
    untilDigest: (days = 0) => {
      const to = 9 * HOUR_MS + 16 * MINUTE_MS;
      const ahead = to - sinceMidnight();
      system.move((ahead > 0 ? ahead : ahead + DAY_MS) + days * DAY_MS);
    },
    digests: () =>
      team.slack
        .as('vera')
        .in('#ops')
        .messages()
        .filter(({ ephemeral, shown }) => !ephemeral && shown.includes('Daily digest'))
        .map(({ shown }) => shown),
    renewOutside: (id: number) => {
      team.hosting.servers.renew(team.account, String(id));
    },
    listReads: () => team.hosting.requests({ operation: 'servers' }).length,
  });
}
