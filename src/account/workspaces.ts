import { sql } from 'kysely';
import { z } from 'zod';
import type { AuditDetails } from '../core/audit-entry.ts';
import { defineUseCase } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import type { ChannelId, WorkspaceId } from '../core/ids.ts';
import { money } from '../core/money.ts';
import { withTimeout } from '../core/promises.ts';
import { DEFAULT_SETTINGS, DIGEST, listChanges } from '../core/settings.ts';
import { findZone } from '../core/time.ts';
import { type Foundation, lockWorkspace } from '../db/database.ts';
import { addJob } from '../db/jobs.ts';
import type { Channels } from '../slack/directory.ts';
import { textMessage } from '../slack/kit/blocks.ts';
import { channelId, userId } from '../slack/kit/fields.ts';
import { mention } from '../slack/kit/text.ts';

export const readSettings = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: (_input: Record<never, never>, { actor, app }): Promise<WorkspaceSettings> =>
    app.workspaces.readSettings(actor.workspaceId),
});

/** The owner's own time zone, as Slack has it, to begin with; undefined where the app may not ask Slack. */
export const findOwnZone = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (_input: Record<never, never>, { actor, app }): Promise<string | undefined> => {
    const user = await app.users.find(actor.workspaceId, actor.userId);
    return user?.timeZone === undefined ? undefined : findZone(user.timeZone);
  },
});

/**
 * Changes settings, and audits each with its old and new value.
 * @throws Refusal `settings_moved` if they have changed since the form was opened
 */
export const changeSettings = defineUseCase({
  name: 'settings_change',
  needs: 'owner',
  effect: 'changes',
  subject: ({ was, settings }) => ({ details: auditChanges(was, settings) }),
  /** `was`: the settings that the form showed. */
  run: async (
    { was, settings }: { was: WorkspaceSettings; settings: WorkspaceSettings },
    context,
  ): Promise<void> => {
    const { actor, app } = context;
    // Made from the actor and the clock, whatever the form says.
    const ownFreeze = { by: actor.userId, since: app.system.now() };
    const freeze = settings.freeze && (was.freeze ?? ownFreeze);
    const wanted = { ...settings, freeze };
    context.setSubject({ details: auditChanges(was, wanted) });
    const isChanged = await app.workspaces.changeSettings(actor.workspaceId, was, wanted);
    if (!isChanged) throw new Refusal('settings_moved', {});
  },
});

function auditChanges(was: WorkspaceSettings, is: WorkspaceSettings): AuditDetails {
  return { kind: 'settings', changes: listChanges(was, is) };
}

/**
 * Whether changes may be announced in a channel: not if owners turned that off, not in direct messages, and not if other
 * organizations can read the channel or may be able to, because Slack doesn't say (docs/design.md 2.3).
 */
export async function mayAnnounce(
  workspaceId: WorkspaceId,
  channelId: ChannelId | undefined,
  workspaces: Workspaces,
  channels: Channels,
): Promise<boolean> {
  if (channelId === undefined || channelId.startsWith('D')) return false;
  const announces = (await workspaces.find(workspaceId))?.settings.announces ?? false;
  return announces && (await channels.isShared(workspaceId, channelId)) === false;
}

/** Time to test a channel: Slack wants the answer to a form within 3 s. */
const CHECK_TIMEOUT_MS = 2000;

/**
 * Posts a test message to a chosen channel, so that no message is lost in one where the app can't post. `receives`: what it is for.
 * @throws Refusal `channel_unwritable`
 */
export const checkChannel = defineUseCase({
  name: 'settings',
  needs: 'owner',
  effect: 'reads',
  run: async (
    { channelId, receives }: { channelId: ChannelId; receives: string },
    { actor: { workspaceId, userId }, app },
  ): Promise<void> => {
    const words = `${mention(userId)} is setting up this channel for ${receives}.`;
    const post = async () => {
      const posted = await app.postOnce(workspaceId, channelId, textMessage(words));
      if (posted.kind === 'posted') return 'posted';
      const isUnread = posted.reason === 'channel_unreadable';
      const isHidden = isUnread && (await app.channels.look(workspaceId, channelId)) === 'unknown';
      return isHidden ? 'channel_not_found' : (posted.reason ?? 'unknown');
    };
    const reason = (await withTimeout(post(), app.system, CHECK_TIMEOUT_MS)) ?? 'timeout';
    if (reason !== 'posted') throw new Refusal('channel_unwritable', { reason });
  },
});

/**
 * Refuses a payment while purchases are frozen.
 * @throws Refusal `purchases_frozen`
 */
export function refuseFrozen({ freeze }: WorkspaceSettings): void {
  if (freeze) throw new Refusal('purchases_frozen', { frozenBy: freeze.by, since: freeze.since });
}

export type Workspaces = ReturnType<typeof createWorkspaces>;

/** Stores the workspaces that the app works for, and their settings. */
export function createWorkspaces(foundation: Foundation) {
  const { db, engine } = foundation;
  const find = async (id: string) => {
    // Written out, like `listFor` of the grants.
    const found = await sql<
      Record<'id' | 'name' | 'settings', string>
    >`select id, name, settings from workspaces where id = ${id}`.execute(db);
    const [row] = found.rows;
    return row && { id: row.id, name: row.name, settings: parseSettings(row.settings) };
  };
  return {
    /** Adds a workspace, or updates its name. Settings stay. */
    put: async ({ id, name }: { readonly id: string; readonly name: string }): Promise<void> => {
      await db
        .insertInto('workspaces')
        .values({ id, name, settings: '{}' })
        .onConflict((conflict) => conflict.column('id').doUpdateSet({ name }))
        .execute();
    },
    list: () => db.selectFrom('workspaces').select(['id', 'name']).orderBy('id').execute(),
    find,
    /** Reads the settings; a workspace that is not stored has the defaults. */
    readSettings: async (id: WorkspaceId): Promise<WorkspaceSettings> =>
      (await find(id))?.settings ?? DEFAULT_SETTINGS,
    /** Replaces settings that are still `was`. False, and nothing is changed, if someone has saved others since. */
    changeSettings: (id: string, was: WorkspaceSettings, settings: WorkspaceSettings): Promise<boolean> =>
      engine.transact(db, async (trx) => {
        await lockWorkspace(trx, id);
        const row = await trx
          .selectFrom('workspaces')
          .select('settings')
          .where('id', '=', id)
          .executeTakeFirst();
        // An error is better than a limit that seems set but isn't stored.
        if (!row) throw new Error('settings of a workspace that is not stored');
        if (listChanges(parseSettings(row.settings), was).length > 0) return false;
        await trx
          .updateTable('workspaces')
          .set({ settings: JSON.stringify(settings) })
          .where('id', '=', id)
          .execute();
        // Its hour or zone may have changed. If the digest was turned off, its job finds that out.
        const job = { kind: DIGEST, key: id, workspaceId: id, dueAt: engine.clock.now() };
        if (settings.digest) await addJob(trx, foundation, job);
        return true;
      }),
  };
}

const amount = z.number().int().min(0).transform(money).exactOptional();

/** The settings that owners make for their workspace (docs/design.md 8.4), as they are stored and as a form carries them. */
export const settingsSchema = z.object({
  /** Whether changes are announced in the channel. */
  announces: z.boolean(),
  /**
   * The two-person rule: what needs another manager's approval (docs/approvals.md). Creates with a higher monthly price than
   * `createAbove`, or an unknown one, do; absent for none, 0 for all that cost something.
   */
  approval: z.object({ delete: z.boolean(), renew: z.boolean(), createAbove: amount }),
  /** The most that the workspace, and each person, may spend with the app in a calendar month (UTC); absent for no limit. */
  budget: z.object({ workspace: amount, person: amount }),
  /** Where approval requests are posted; if absent, they are sent to managers directly. */
  channelId: channelId.exactOptional(),
  /** A purchase freeze: nothing is created or renewed until an owner lifts it. `since`: epoch milliseconds. */
  freeze: z.object({ by: userId, since: z.number() }).exactOptional(),
  /** The daily digest (docs/reminders.md); absent if none is posted. */
  digest: z
    .object({
      channelId,
      /** When it is posted, in `zone`, the IANA name of a time zone. */
      hour: z.number().int().min(0).max(23),
      zone: z.string(),
      /** Days before the end of the paid time, largest first: the digest lists a server from the first, with rising urgency. */
      daysBefore: z.array(z.number().int().min(1)).min(1).readonly(),
    })
    .exactOptional(),
});
export type WorkspaceSettings = z.output<typeof settingsSchema>;

/** Settings as they are stored: one that was unknown to the version that wrote them is missing. */
const storedSchema = z.looseObject({ approval: z.looseObject({}).default({}) });

/**
 * Reads what `changeSettings` wrote; what is missing has its default.
 * @throws ZodError, SyntaxError when it can't be read: the defaults have no limits, so they must not take its place
 */
export function parseSettings(text: string): WorkspaceSettings {
  const stored = storedSchema.parse(JSON.parse(text));
  const approval = { ...DEFAULT_SETTINGS.approval, ...stored.approval };
  return settingsSchema.parse({ ...DEFAULT_SETTINGS, ...stored, approval });
}
