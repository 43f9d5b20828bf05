import type { TakenAct } from '../../app/servers/ports.ts';
import type { Card } from '../../domain/decision.ts';
import type { FollowedServer } from '../../domain/followed-act.ts';
import type { FollowedActRow, FollowedServerRow } from '../engine/follow-tables.ts';
import { keepPresent } from '../engine/omit-null.ts';

/** A followed act out of its rows. */
export function toAct(
  row: FollowedActRow,
  servers: readonly FollowedServerRow[],
  message: { readonly channel_id: string; readonly ts: string } | undefined,
): TakenAct {
  const { thread_ts: ts, is_thread_open: isOpen } = row;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    action: row.action,
    actorId: row.actor_id,
    ...keepPresent({
      channelId: row.channel_id,
      thread: ts === null ? null : { ts, isOpen: isOpen === 1 },
      message: message ? cardOf(message) : null,
    }),
    keyGeneration: row.key_generation,
    since: row.since,
    lookedAt: row.looked_at,
    passedMs: row.passed_ms,
    isMeasured: row.is_measured === 1,
    told: row.told,
    servers: servers.map(toServer),
  };
}

function cardOf({ channel_id, ts }: { readonly channel_id: string; readonly ts: string }): Card {
  return { channelId: channel_id, ts };
}

function toServer(row: FollowedServerRow): FollowedServer {
  const { superseded_by: by, superseded_action: action } = row;
  return {
    serverId: row.server_id,
    label: row.label,
    standing: row.standing,
    hasChanged: row.has_changed === 1,
    ...keepPresent({
      state: row.state,
      ipv4: row.ipv4,
      paidUntil: row.paid_until,
      settledMs: row.settled_ms,
      superseded: by === null || action === null ? null : { by, action },
    }),
  };
}

/** What changes of a server while it is followed. */
export function columnsOfServer(server: FollowedServer) {
  return {
    label: server.label,
    standing: server.standing,
    state: server.state ?? null,
    ipv4: server.ipv4 ?? null,
    paid_until: server.paidUntil ?? null,
    has_changed: server.hasChanged ? 1 : 0,
    settled_ms: server.settledMs === undefined ? null : Math.round(server.settledMs),
    superseded_by: server.superseded?.by ?? null,
    superseded_action: server.superseded?.action ?? null,
  };
}
