import { z } from 'zod';
import type { DueCommand } from '../../app/messages/ports.ts';
import { AUDIT_ACTIONS } from '../../domain/audit-action.ts';
import type { ChangedServer } from '../../domain/message-command.ts';
import type { MessageCommandRow } from '../engine/message-tables.ts';
import { keepPresent } from '../engine/omit-null.ts';

const changedServers = z.array(z.object({ id: z.number(), label: z.string() }));

/** Reads a command from its row. */
export function toDueCommand(row: MessageCommandRow): DueCommand {
  const { thread_ts: ts, is_thread_open: isOpen } = row;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    userId: row.user_id,
    kind: row.kind,
    channelId: row.channel_id,
    receivedAt: row.received_at,
    hasBegun: row.has_begun === 1,
    servers: parseServers(row.servers),
    dueAt: row.due_at,
    isClaimed: row.state === 'claimed',
    ...keepPresent({
      homeTeamId: row.home_team_id,
      thread: ts === null ? null : { ts, isOpen: isOpen === 1 },
      name: AUDIT_ACTIONS.find((each) => each === row.name) ?? null,
    }),
  };
}

function parseServers(json: string): readonly ChangedServer[] {
  try {
    return changedServers.parse(JSON.parse(json));
  } catch {
    return [];
  }
}
