import type { Button, KnownBlock } from '@slack/types';
import { z } from 'zod';
import type { AuditSubject } from '../core/audit-entry.ts';
import { defineUseCase, type UseCaseContext } from '../core/entry.ts';
import { Refusal } from '../core/errors.ts';
import { isFullName, matchServer } from '../core/find-server.ts';
import type { ConfirmationId, ServerId } from '../core/ids.ts';
import type { Server } from '../core/server.ts';
import { HOUR_MS, MINUTE_MS } from '../core/time.ts';
import type { ServerRef } from '../servers/find.ts';
import { chooseMessage, offerMatches, pickChoice } from '../servers/find.ts';
import {
  actions,
  confirmation,
  context,
  LIMITS,
  type Message,
  preformatted,
  section,
  textMessage,
} from '../slack/kit/blocks.ts';
import { defineButton } from '../slack/kit/button.ts';
import { defineCommand, parseServerName } from '../slack/kit/command.ts';
import { codeLabel, count, plainLabel, slackDate, splitText } from '../slack/kit/text.ts';
import type { SlackRequest } from '../slack/request.ts';
import { labelOf } from './operation.ts';
import { type HeldPassword, UNKNOWN_SERVER } from './password-store.ts';

export const passwordButton = defineButton('password', z.object({ typed: z.string() }));
/** Erases the sealed copy of a root password, and the message that shows it. */
const savedButton = defineButton('password_saved', z.object({ operationId: z.string() }));

type Unopened = Omit<HeldPassword, 'password'>;

/** Long enough to read and copy it, even if `PASSWORD_HOLD_MINUTES` is 0. */
const LEAST_HOLD_MS = MINUTE_MS;

interface Showing {
  readonly ref: ServerRef;
  /** True only if Slack has confirmed all of it. `holdMs`: how long it is held from then on, if no time limit runs yet. */
  show(held: HeldPassword, holdMs: number): Promise<boolean>;
}

/**
 * Shows a held root password to the user who created the server, and to no one else, owners included.
 * The server is found among the held passwords, not through the API, so this works while the API is down.
 * @throws Refusal `no_password`, `password_awaited`, `not_creator`, `ambiguous_server` (among the actor's own)
 */
export const showPassword = defineUseCase({
  name: 'password',
  needs: 'anyone',
  effect: 'changes',
  run: async ({ ref, show }: Showing, context): Promise<void> => {
    const { passwords, system, settings } = context.app;
    const held = await passwords.listHeld(context.actor.workspaceId);
    const isMine = ({ creatorId }: Unopened) => creatorId === context.actor.userId;
    // The actor's own come first: two users may each have made a "web-1", or a server 7 in different accounts.
    const [found, ...more] = matchHeld(ref, held.filter(isMine));
    if (!found) {
      await refuseAwaited(context, ref);
      // Only by its whole name: its beginnings would spell the label to a user without a role.
      const isNamed = (each: Unopened) => !('typed' in ref) || isFullName(ref.typed, toServer(each));
      const [other, ...others] = matchHeld(ref, held).filter(isNamed);
      if (other && others.length === 0) context.setSubject(subjectOf(other));
      // In the words that were typed: a user without a role must not learn a label from this.
      throw new Refusal(other ? 'not_creator' : 'no_password', { label: nameOf(ref) });
    }
    if (more.length > 0 && 'typed' in ref) {
      throw new Refusal('ambiguous_server', { typed: nameOf(ref), servers: [found, ...more].map(toServer) });
    }
    context.setSubject(subjectOf(found));
    const password = await passwords.find(found.operationId);
    if (!password) throw new Refusal('no_password', { label: nameOf(ref) });
    const holdMs = Math.max(settings.passwordHoldMs, LEAST_HOLD_MS);
    // The time limit starts only after Slack has accepted the password (docs/design.md 5.3).
    if (!(await show(password, holdMs))) context.setUnconfirmed('not_shown');
    else await passwords.startHold(password.operationId, system.now(), holdMs);
  },
});

/**
 * Refuses while the answer to one of the actor's creates may still come: it is open, or it ended without a password too recently for a
 * manager to have decided about it. Until then, the password isn't lost.
 * @throws Refusal `password_awaited`
 */
async function refuseAwaited({ actor, app }: UseCaseContext, ref?: ServerRef): Promise<void> {
  const { ledger, settings, system } = app;
  const { workspaceId, userId: creatorId } = actor;
  const open = await ledger.listOpen(workspaceId);
  const recent = await ledger.listPurchases(workspaceId, system.now() - settings.unconfirmedMs);
  const awaited = [...open, ...recent]
    .filter(({ actorId, purchase, hasPassword }) => {
      return actorId === creatorId && purchase.kind === 'create' && !hasPassword;
    })
    .map(({ id: operationId, purchase, serverId = UNKNOWN_SERVER }) => {
      return { operationId, workspaceId, creatorId, serverId, label: labelOf(purchase) };
    });
  const [first] = ref ? matchHeld(ref, awaited) : awaited;
  if (first) throw new Refusal('password_awaited', { label: first.label });
}

/** An ID from a menu isn't a label. The newest come first: a menu can't tell servers of the same ID apart. */
function matchHeld(ref: ServerRef, held: readonly Unopened[]): readonly Unopened[] {
  if (!('typed' in ref)) return held.filter(({ serverId }) => serverId === ref.id);
  const byServer = new Map(held.map((each) => [toServer(each), each]));
  const match = matchServer(ref.typed, [...byServer.keys()]);
  if (match.kind === 'unknown') return [];
  const servers = match.kind === 'found' ? [match.server] : match.servers;
  return servers.flatMap((server) => byServer.get(server) ?? []);
}

function toServer({ serverId: id, label }: Unopened): Server {
  return { id, label, state: '' };
}

function subjectOf({ serverId, label, operationId }: Unopened): AuditSubject {
  return { serverId: serverId === UNKNOWN_SERVER ? undefined : serverId, label, operationId };
}

function nameOf(ref: ServerRef): string {
  return 'typed' in ref ? ref.typed : String(ref.id);
}

/**
 * The servers whose root password the actor has not saved yet, newest first. No password is opened.
 * @throws Refusal `password_awaited` if there are none
 */
const listPasswords = defineUseCase({
  name: 'password',
  needs: 'anyone',
  effect: 'reads',
  run: async (_input: Record<never, never>, context): Promise<readonly Server[]> => {
    const { actor, app } = context;
    const held = await app.passwords.listHeld(actor.workspaceId);
    const mine = held.filter(({ creatorId }) => creatorId === actor.userId);
    if (mine.length === 0) await refuseAwaited(context);
    return mine.map(toServer);
  },
});

/** Returns the server's label. @throws Refusal `not_creator` */
export const erasePassword = defineUseCase({
  name: 'password_saved',
  needs: 'anyone',
  effect: 'changes',
  run: async (input: { operationId: ConfirmationId }, context): Promise<string> => {
    const { ledger, passwords } = context.app;
    const operation = await ledger.find(input.operationId);
    if (operation?.workspaceId !== context.actor.workspaceId) throw new Refusal('no_password', { label: '' });
    const { id: operationId, serverId } = operation;
    const label = labelOf(operation.purchase);
    context.setSubject({ operationId, label, serverId });
    if (operation.actorId !== context.actor.userId) throw new Refusal('not_creator', { label });
    await passwords.erase(operationId);
    return label;
  },
});

export const password = defineCommand({
  name: 'password',
  usage: 'password [server]',
  example: 'password web-1',
  summary: 'Show the root password of a server you created',
  needs: 'anyone',
  parse: parseServerName,
  run: async (ref, request) => {
    if (request.caller.surface !== 'direct_message') return offer(ref, request);
    // A message of the app stays in the conversation: the press of a button brings a way to show it ephemerally.
    const words =
      'Root passwords appear only in messages that nobody else can see. Press the button, or type `/vps password`.';
    await request.reply.send(textMessage(words, actions(passwordButton.element('Show password', ref))));
  },
  actions: [
    passwordButton.on((ref, request) => offer(ref, request)),
    pickChoice.password.on((id, request) => reveal({ id: Number(id) }, request)),
    savedButton.on(async ({ operationId }, request) => {
      await request.reply.replace(erasedMessage(await request.execute(erasePassword, { operationId })));
    }),
  ],
});

async function offer(ref: { readonly typed: string }, request: SlackRequest): Promise<void> {
  if (ref.typed !== '') return offerMatches('password', request, () => reveal(ref, request));
  const mine = await request.execute(listPasswords, {});
  const [only] = mine;
  if (!only) await request.reply.send(textMessage('You have no unsaved root passwords.'));
  else if (mine.length === 1) await reveal({ id: only.id }, request);
  else await request.reply.send(chooseMessage('password', mine));
}

async function reveal(ref: ServerRef, request: SlackRequest): Promise<void> {
  const show = (held: HeldPassword, holdMs: number) => sendAll(passwordMessages(held, holdMs), request.reply);
  await request.execute(showPassword, { ref, show });
}

/** Slack refuses messages above about 12,000 characters, and doesn't document whether it counts them escaped or in bytes. */
const BLOCKS_IN_MESSAGE = 2;

/** The blocks of each message: an answer in which no password was recognized may need three. */
export function passwordParts(held: HeldPassword, words: string, ...more: Button[]): KnownBlock[][] {
  const { operationId, label } = held;
  const texts = splitText(held.password.reveal(), LIMITS.preformatted);
  const parts = Math.ceil(texts.length / BLOCKS_IN_MESSAGE);
  return Array.from({ length: parts }, (_, at) => {
    const part = parts === 1 ? '' : `, part ${at + 1} of ${parts}`;
    const shown = texts.slice(at * BLOCKS_IN_MESSAGE, (at + 1) * BLOCKS_IN_MESSAGE);
    const head = section(`*Root password of* ${codeLabel(label)}${part} (only you can see this):`);
    if (at < parts - 1) return [head, ...shown.map(preformatted)];
    const confirm = confirmation({
      title: 'Have you saved it?',
      text: `This erases our only copy of ${plainLabel(label, 60)}’s root password. The hosting API can’t show it again.`,
      confirm: 'Erase',
      isDangerous: true,
    });
    const saved = { style: 'primary', confirm } as const;
    return [
      head,
      ...shown.map(preformatted),
      context(`Save it in your password manager now. ${words}`),
      actions(savedButton.element("I've saved it", { operationId }, saved), ...more),
    ];
  });
}

/** How to see it again. Mentions no time limit, since none starts until its creator asks for it. */
export function againWords(held: HeldPassword): string {
  return `${passwordCommand(held.serverId, held.label)} shows it again.`;
}

/** By the label where a manager has seen the server in an account that is not connected any more: its ID is not known. */
export function passwordCommand(serverId: ServerId | undefined, label: string): string {
  return codeLabel(`/vps password ${serverId === UNKNOWN_SERVER ? label : (serverId ?? label)}`);
}

/** `holdMs`: how long it is held once Slack has accepted these messages, if no time limit runs yet. */
export function passwordMessages(held: HeldPassword, holdMs: number): Message[] {
  const { label, heldUntil } = held;
  const least =
    holdMs < 2 * HOUR_MS
      ? count(Math.floor(holdMs / MINUTE_MS), 'minute')
      : count(Math.floor(holdMs / HOUR_MS), 'hour');
  const time = heldUntil === undefined ? `for at least ${least}` : `until ${slackDate(heldUntil)}`;
  const words = `${passwordCommand(held.serverId, label)} shows it again ${time}, unless you press *I’ve saved it*.`;
  const text = `Root password of ${codeLabel(label)}`;
  return passwordParts(held, words).map((blocks) => ({ text, blocks }));
}

/** Sends messages in order, and stops at the first that Slack doesn't accept. True if Slack accepted them all. */
export async function sendAll(
  messages: readonly Message[],
  reply: { send(message: Message): Promise<boolean> },
): Promise<boolean> {
  for (const message of messages) if (!(await reply.send(message))) return false;
  return true;
}

export function erasedMessage(label: string): Message {
  return textMessage(`${codeLabel(label)} · password erased`);
}
