import { z } from 'zod';
import type { InstallationId } from '../../domain/ids.ts';

/** An event that says that a token of the app, or the app itself, is gone. */
export interface Revocation {
  /** The installations that it may be about: where Slack doesn't say which kind it was, both. */
  readonly ids: readonly InstallationId[];
  /** Epoch milliseconds, by Slack's clock. */
  readonly at: number;
}

/** Their names, as the manifest subscribes to them. */
export const REVOCATION_EVENTS = /^(app_uninstalled|tokens_revoked)$/;

const id = z.string().min(1).max(64).nullish().catch(undefined);
const isOrg = z.boolean().nullish().catch(undefined);
const envelope = z.object({
  team_id: id,
  enterprise_id: id,
  is_enterprise_install: isOrg,
  authorizations: z
    .array(z.object({ is_enterprise_install: isOrg }))
    .nullish()
    .catch(undefined),
  event_time: z.number().positive(),
  event: z.object({
    type: z.string(),
    /** User IDs, not tokens. */
    tokens: z
      .object({ bot: z.array(z.unknown()).catch([]) })
      .nullish()
      .catch(undefined),
  }),
});

/** Reads the event; undefined if it is another one, or about tokens of users, which the app has none of. */
export function readRevocation(body: unknown): Revocation | undefined {
  const read = envelope.safeParse(body).data;
  if (!read || !REVOCATION_EVENTS.test(read.event.type)) return undefined;
  const { team_id: team, enterprise_id: enterprise, authorizations, event, event_time } = read;
  if (event.type === 'tokens_revoked' && (event.tokens?.bot.length ?? 0) === 0) return undefined;
  const isOfOrg = authorizations?.[0]?.is_enterprise_install ?? read.is_enterprise_install;
  const places = isOfOrg === true ? [enterprise] : isOfOrg === false ? [team] : [team, enterprise];
  const ids = places.filter((place) => place !== undefined && place !== null);
  return { ids, at: event_time * 1000 };
}
