import type { ModalView } from '@slack/types';
import { sql } from 'kysely';
import { z } from 'zod';
import type { AppContext } from '../context.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal, type ServerAct } from '../core/errors.ts';
import type { ServerId, UserId, WorkspaceId } from '../core/ids.ts';
import {
  isDeleted,
  isNoteOf,
  MOST_NOTE_LETTERS,
  type NamedServer,
  type Server,
  type ServerNote,
} from '../core/server.ts';
import type { Foundation } from '../db/database.ts';
import { defineCommand, findUserId, type TypedWords } from '../slack/kit/command.ts';
import { defineForm, loadingView, type Origin } from '../slack/kit/form.ts';
import { defineModal } from '../slack/kit/modal.ts';
import { codeLabel, count, plainLabel } from '../slack/kit/text.ts';
import { cardView } from '../slack/kit/views.ts';
import type { SlackRequest } from '../slack/request.ts';
import { noteButton, protectButton, unprotectButton } from './buttons.ts';
import { loadCard, type ServerCard, showServer } from './card.ts';
import { getServer, type ServerRef, subjectOf } from './find.ts';

interface NoteInput {
  readonly ref: ServerRef;
  /** Absent to keep what is stored, '' to remove it; the same for `contact`. */
  readonly text?: string | undefined;
  readonly contact?: UserId | '' | undefined;
}

/** Changes a server's note, and removes it when text and contact are both empty. @throws as `getServer` does */
const noteServer = defineUseCase({
  name: 'note',
  needs: 'operator',
  effect: 'changes',
  subject: ({ ref }) => subjectOf(ref),
  run: async ({ ref, ...change }: NoteInput, context): Promise<Server> => {
    const server = await getServer(ref, context);
    const { actor, app } = context;
    const { workspaceId, userId: notedBy } = actor;
    const found = await app.serverNotes.find('note', workspaceId, server.id);
    const before: Partial<ServerNote> = found && isNoteOf(found, server) ? found : {};
    const text = change.text ?? before.text ?? '';
    const contact = (change.contact ?? before.contact) || undefined;
    if (text === '' && contact === undefined) {
      await app.serverNotes.remove('note', workspaceId, server.id);
      return server;
    }
    const { id: serverId, label } = server;
    const note = { serverId, label, text, contact, notedBy, notedAt: app.system.now() };
    await app.serverNotes.put('note', workspaceId, note);
    return server;
  },
});

const noteForm = defineModal(
  'note',
  z.object({ id: z.number().int() }),
  z.object({ text: z.string().trim().exactOptional(), contact: z.string().exactOptional() }),
);

/** Renders the form with the server's note; both fields can be emptied. */
export function noteView({ server, note }: ServerCard, origin: Origin): ModalView {
  return noteForm.view({
    origin,
    metadata: { id: server.id },
    title: plainLabel(server.label, 24),
    submit: 'Save',
    blocks: [
      noteForm.textField('text', {
        label: 'Note',
        hint: 'What is it for? What should someone know at 3 a.m.? Everyone who can see the server can read it.',
        initial: note?.text,
        multiline: true,
        optional: true,
        maxLength: MOST_NOTE_LETTERS,
      }),
      noteForm.userField('contact', {
        label: 'Contact',
        hint: 'Who to ask about this server.',
        initial: note?.contact,
        optional: true,
      }),
    ],
  });
}

const form = defineForm({
  id: 'note',
  title: 'Note',
  input: z.object({ id: z.number().int() }),
  needs: noteServer,
  load: async (ref, request, origin) => noteView(await request.execute(showServer, { ref }), origin),
});

/** `/vps note web-1 @otto billing`: notes what the team wants to know about a server at 3 a.m. */
export const note = defineCommand({
  name: 'note',
  usage: 'note <server> [@contact] <text>',
  example: 'note web-1 @ann billing, ask before a reboot',
  summary: 'Note what a server is for and who to ask',
  needs: 'operator',
  options: ['contact'],
  parse: parseNote,
  run: async ({ typed, ...change }, request) => {
    const { id } = await request.execute(noteServer, { ref: { typed }, ...change });
    await request.reply.send(await loadCard({ ref: { id } }, request));
  },
  actions: [
    form.handler,
    noteButton.on(({ id }, request) => form.open({ id }, request)),
    protectButton.on(({ id }, request) => protect(protectServer, 'protected', id, request)),
    unprotectButton.on(({ id }, request) =>
      protect(unprotectServer, 'lifted the protection on', id, request),
    ),
  ],
  modals: [
    noteForm.onSubmit(noteServer, async ({ fields, metadata: { id }, origin, viewId }, request) => ({
      with: loadingView('Note', 'Saving…'),
      after: async () => {
        const { text = '', contact = '' } = fields;
        await request.execute(noteServer, { ref: { id }, text, contact });
        const card = await loadCard({ ref: { id } }, request);
        // The message whose button opened the form, if it was one, and the form itself.
        await request.reply.edit(card);
        const shown = await request.views.update(viewId, cardView('Note saved', origin, card));
        if (!shown.ok) await request.reply.send(card);
      },
    })),
  ],
});

/** Protects a server, or lifts its protection, and shows its card. `did` is for the channel. */
async function protect(
  useCase: typeof protectServer,
  did: string,
  id: ServerId,
  request: SlackRequest,
): Promise<void> {
  const { label } = await request.execute(useCase, { ref: { id } });
  await request.reply.replace(await loadCard({ ref: { id } }, request));
  await request.announce(`${did} ${codeLabel(label)}`);
}

/** The contact is a mention right after the server: Slack's composer offers no users after `contact=`, which is read anyway. */
function parseNote({ words: [typed, first = '', ...more], options }: TypedWords) {
  if (!typed) return 'Name a server first.';
  const isContact = options.contact === undefined && findUserId(first) !== undefined;
  const who = isContact ? first : options.contact;
  const words = (isContact ? more : [first, ...more]).map(withoutPing).join(' ').trim();
  if (words === '' && who === undefined) return 'Add some text, or mention a contact.';
  if (words.length > MOST_NOTE_LETTERS)
    return `A note can have up to ${count(MOST_NOTE_LETTERS, 'character')}.`;
  const contact = who === undefined || who === 'none' ? who && ('' as const) : findUserId(who);
  if (who !== undefined && contact === undefined)
    return 'Mention the contact right after the server, as in `note web-1 @ann`, or write `contact=none`.';
  if (words === 'clear') return { typed, text: '', contact: contact ?? ('' as const) };
  return { typed, contact, text: words === '' ? undefined : words };
}

/** Replaces `<@U1|ann>`, which Slack sends for `@ann`, so that a note doesn't notify people each time it is shown. */
function withoutPing(word: string): string {
  return word.replace(/<[@#!][^<|>]*\|([^<>]*)>/g, '@$1');
}

/**
 * Protects a server: this app no longer stops, reboots or deletes it.
 * @throws as `getServer` does, and Refusal `unknown_server` for a server that is deleted
 */
const protectServer = defineProtecting('protect', (server, { actor, app }) => {
  if (isDeleted(server)) throw new Refusal('unknown_server', { typed: server.label });
  const protection = { serverId: server.id, protectedBy: actor.userId };
  return app.serverNotes.put('protection', actor.workspaceId, protection);
});

/** Lifts the protection of a server. @throws as `getServer` does */
const unprotectServer = defineProtecting('unprotect', ({ id }, { actor, app }) =>
  app.serverNotes.remove('protection', actor.workspaceId, id),
);

function defineProtecting(
  name: 'protect' | 'unprotect',
  change: (server: Server, context: UseCaseContext) => Promise<void>,
) {
  return defineUseCase({
    name,
    needs: 'owner',
    effect: 'changes',
    subject: ({ ref }) => subjectOf(ref),
    run: async ({ ref }: { ref: ServerRef }, context): Promise<Server> => {
      const server = await getServer(ref, context);
      await change(server, context);
      return server;
    },
  });
}

/** What can't be done to a protected server by any user, on any surface, approved or not. */
const PROTECTED_ACTS: readonly ServerAct[] = ['stop', 'reboot', 'delete'];

/** Refuses an act on a protected server. @throws Refusal `server_protected` */
export async function refuseProtected(
  act: ServerAct,
  server: NamedServer,
  workspaceId: WorkspaceId,
  { serverNotes }: AppContext,
): Promise<void> {
  if (!PROTECTED_ACTS.includes(act)) return;
  const { id, label } = server;
  const protection = await serverNotes.find('protection', workspaceId, id);
  if (!protection) return;
  throw new Refusal('server_protected', { server: { id, label }, act, protectedBy: protection.protectedBy });
}

/** An owner's protection of a server: it can't be stopped, rebooted or deleted until an owner lifts the protection. */
export interface Protection {
  readonly serverId: ServerId;
  readonly protectedBy: UserId;
}

/**
 * What a user decided about the reminders for one month of a server: none before a day, or none at all. It says nothing about
 * the next month, since it names the end of this one.
 */
export interface ReminderMark {
  readonly serverId: ServerId;
  /** The end of the paid time that it is about, in epoch milliseconds. */
  readonly paidUntil: number;
  readonly by: UserId;
  /** The first day on which the server is listed again; absent when it is left to expire. */
  readonly untilDay?: string | undefined;
}

interface Values {
  note: ServerNote;
  protection: Protection;
  reminder: ReminderMark;
}

/** Stores at most one of each kind for each server of a workspace. */
export function createServerNotes({ db }: Foundation) {
  const findAll = async (workspaceId: WorkspaceId, serverId: ServerId): Promise<Partial<Values>> => {
    // Written out, like `listFor` of the grants.
    const { rows } = await sql<{ readonly kind: string; readonly value: string }>`
      select kind, value from server_notes
      where kind in ('note', 'protection', 'reminder') and workspace_id = ${workspaceId} and server_id = ${serverId}`.execute(
      db,
    );
    return Object.fromEntries(rows.map(({ kind, value }) => [kind, JSON.parse(value)]));
  };
  return {
    findAll,
    find: async <Kind extends keyof Values>(kind: Kind, workspaceId: WorkspaceId, serverId: ServerId) =>
      (await findAll(workspaceId, serverId))[kind],
    list: async <Kind extends keyof Values>(
      kind: Kind,
      workspaceId: WorkspaceId,
    ): Promise<Values[Kind][]> => {
      const rows = await db
        .selectFrom('server_notes')
        .select('value')
        .where('kind', '=', kind)
        .where('workspace_id', '=', workspaceId)
        .execute();
      return rows.map(({ value }) => JSON.parse(value));
    },
    /** Replaces an earlier one. An earlier protection stays as it is. */
    put: async <Kind extends keyof Values>(
      kind: Kind,
      workspaceId: WorkspaceId,
      noted: Values[Kind],
    ): Promise<void> => {
      const value = JSON.stringify(noted);
      await db
        .insertInto('server_notes')
        .values({ kind, workspace_id: workspaceId, server_id: noted.serverId, value })
        .onConflict((conflict) => {
          const earlier = conflict.columns(['kind', 'workspace_id', 'server_id']);
          return kind === 'protection' ? earlier.doNothing() : earlier.doUpdateSet({ value });
        })
        .execute();
    },
    remove: async (kind: keyof Values, workspaceId: WorkspaceId, serverId: ServerId): Promise<void> => {
      await db
        .deleteFrom('server_notes')
        .where('kind', '=', kind)
        .where('workspace_id', '=', workspaceId)
        .where('server_id', '=', serverId)
        .execute();
    },
  };
}
