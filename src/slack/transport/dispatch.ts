import type { KnownBlock, ModalView, PlainTextOption } from '@slack/types';
import { withTimeout } from '../../app/with-timeout.ts';
import type { Actor } from '../../domain/actor.ts';
import { Refusal } from '../../domain/errors.ts';
import { requestAccessButton } from '../buttons.ts';
import { getCommand } from '../help.ts';
import { actions, textMessage } from '../kit/blocks.ts';
import type { Command } from '../kit/command.ts';
import { noticeView } from '../kit/form.ts';
import { findOrigin, type Origin, type SubmitAnswer } from '../kit/modal.ts';
import { splitSubcommand } from '../kit/typed-words.ts';
import { makeRequest } from './make-request.ts';
import {
  actionPayload,
  commandPayload,
  type Place,
  submissionPayload,
  suggestionPayload,
} from './payloads.ts';
import { findReplyUrl, replyByOrigin, replyByUrl } from './reply.ts';
import type { Reply, SlackRequest, Workbench } from './request.ts';

/** What is answered to a submission, as Slack reads it. Nothing closes the modal. */
export type SubmissionAck =
  | { readonly response_action: 'update'; readonly view: ModalView }
  | { readonly response_action: 'errors'; readonly errors: Readonly<Record<string, string>> }
  | undefined;

/** One entry for each kind of request; `requestId` is one of a kind for each signed request. */
export interface Dispatch {
  command(body: unknown, requestId: string): Promise<void>;
  action(body: unknown, requestId: string): Promise<void>;
  /** Its answer has to be sent first; `after` is done then. */
  submission(body: unknown, requestId: string): Promise<{ ack: SubmissionAck; after?: () => Promise<void> }>;
  suggestion(body: unknown): Promise<PlainTextOption[]>;
}

/** Finds what a request is for, and sees to it that whatever happens is told to the person. */
export function createDispatch(
  commands: readonly Command[],
  bench: Workbench,
  slackApiUrl: string,
): Dispatch {
  const actions = new Map(commands.flatMap(({ actions }) => actions.map((action) => [action.id, action])));
  const modals = new Map(commands.flatMap(({ modals }) => modals.map((modal) => [modal.id, modal])));
  const menus = new Map(commands.flatMap(({ suggestions }) => suggestions.map((menu) => [menu.id, menu])));
  const replyTo = (url: unknown): Reply => {
    const found = findReplyUrl(url, slackApiUrl);
    return found ? replyByUrl(found, bench.slack) : noReply;
  };
  const asked = (
    body: Place,
    surface: 'button' | 'modal',
    requestId: string,
    reply: Reply,
    trigger?: string,
  ) => makeRequest(bench, { actor: actorOf(body), surface, requestId }, reply, trigger);

  return {
    command: async (body, requestId) => {
      const payload = commandPayload.safeParse(body).data;
      if (!payload) return tellUnreadable(body, replyTo);
      const actor = {
        workspaceId: payload.team_id,
        userId: payload.user_id,
        ...(payload.channel_id === undefined ? {} : { channelId: payload.channel_id }),
      };
      const caller = { actor, surface: 'command' as const, requestId };
      const request = makeRequest(bench, caller, replyTo(payload.response_url), payload.trigger_id);
      await telling(request, async () => {
        const { name, rest } = splitSubcommand(payload.text);
        await getCommand(name === '' ? 'help' : name, commands).run(rest, request);
      });
    },

    action: async (body, requestId) => {
      const payload = actionPayload.safeParse(body).data;
      if (!payload) return tellUnreadable(body, replyTo);
      const [pressed] = payload.actions;
      const reply = replyTo(payload.response_url);
      const request = asked(
        { ...payload, action_id: '', value: '' },
        'button',
        requestId,
        reply,
        payload.trigger_id,
      );
      await telling(request, async () => {
        const action = actions.get(pressed?.action_id ?? '');
        if (!action) throw new Refusal('unreadable_press', {});
        await action.run(pressed?.selected_option?.value ?? pressed?.value ?? '', request);
      });
    },

    submission: async (body, requestId) => {
      const payload = submissionPayload.safeParse(body).data;
      if (!payload)
        return { ack: { response_action: 'update', view: noticeView('That did not work', UNREADABLE) } };
      const origin = findOrigin(payload.view.private_metadata);
      const userId = payload.user.id;
      const reply = origin ? replyByOrigin(origin, userId, bench) : noReply;
      const place = { ...payload, channel: placeOf(payload, origin), action_id: '', value: '' };
      const request = asked(place, 'modal', requestId, reply, payload.trigger_id);
      try {
        const modal = modals.get(payload.view.callback_id);
        if (!modal) throw new Refusal('unreadable_press', {});
        const answer = await modal.run(payload.view, request);
        const { after } = answer;
        const failed = (error: unknown) => tellBoth(error, payload.view.id, request);
        return { ack: ackOf(answer), ...(after ? { after: () => after().catch(failed) } : {}) };
      } catch (error) {
        return { ack: explainInModal(error, request) };
      }
    },

    suggestion: async (body) => {
      const payload = suggestionPayload.safeParse(body).data;
      if (!payload) return [];
      const origin = findOrigin(payload.view?.private_metadata ?? '');
      const place = { ...payload, channel: placeOf(payload, origin) };
      const request = asked(place, 'modal', '', noReply);
      try {
        const found = menus.get(payload.action_id)?.find(payload.value, request);
        // Slack gives up after 3 s: choices that come later are at hand when the next letter is typed.
        return (found && (await withTimeout(found, bench.services.system, SUGGEST_MS))) ?? [];
      } catch (error) {
        request.explain(error); // logs a defect; Slack shows an empty menu
        return [];
      }
    },
  };
}

const SUGGEST_MS = 2200;

const UNREADABLE = 'Slack sent something that this app can’t read, so nothing was done.';

/** Signed, so it is from Slack; but not as Slack has ever been seen to write it. */
async function tellUnreadable(body: unknown, replyTo: (url: unknown) => Reply): Promise<void> {
  const url =
    typeof body === 'object' && body !== null && 'response_url' in body ? body.response_url : undefined;
  await replyTo(url).send(textMessage(UNREADABLE));
}

/** For requests that came without a way back; Slack shows them as done. */
const noReply: Reply = {
  send: async () => false,
  replace: async () => false,
  delete: async () => false,
  announce: async () => false,
};

/** A modal has no channel of its own: roles for a channel count where its form was opened. */
function placeOf(payload: Pick<Place, 'channel'>, origin: Origin | undefined): Place['channel'] {
  return payload.channel ?? (origin?.channelId === undefined ? undefined : { id: origin.channelId });
}

function actorOf({ user, team, channel }: Place): Actor {
  return {
    workspaceId: team?.id ?? user.team_id ?? '',
    userId: user.id,
    ...(channel?.id === undefined ? {} : { channelId: channel.id }),
    ...(user.team_id === undefined ? {} : { homeTeamId: user.team_id }),
  };
}

/** Features do not catch: whatever goes wrong is told here, to the person alone. */
async function telling(request: SlackRequest, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    await request.reply.send(textMessage(request.explain(error), ...wayOut(error)));
  }
}

/** A button's value holds 2,000 characters, escapes included. */
const LABEL_MOST = 300;

/** Whoever lacks a role can ask for it with one press. */
function wayOut(error: unknown): KnownBlock[] {
  if (!(error instanceof Refusal) || error.code !== 'role_needed') return [];
  const { needed, label } = (error as Refusal<'role_needed'>).details;
  // Without a label it would be a request for every server.
  if (label !== undefined && (label === '' || label.length > LABEL_MOST)) return [];
  const value = { role: needed, ...(label === undefined ? {} : { label }) };
  return [actions(requestAccessButton.element('Ask for access', value))];
}

/** The modal may have been closed meanwhile: then a message says it. */
async function tellBoth(error: unknown, viewId: string, request: SlackRequest): Promise<void> {
  const words = request.explain(error);
  const { ok } = await request.bench.slack.updateView(viewId, noticeView('That did not work', words));
  if (!ok) await request.reply.send(textMessage(words));
}

function ackOf(answer: SubmitAnswer): SubmissionAck {
  const shown = answer.with ?? 'close';
  if (shown === 'close') return undefined;
  if ('errors' in shown) return { response_action: 'errors', errors: shown.errors };
  return { response_action: 'update', view: shown };
}

/** Beside the field that it is about, if there is one; otherwise in place of the form. */
function explainInModal(error: unknown, request: SlackRequest): SubmissionAck {
  const words = request.explain(error);
  const field = error instanceof Refusal ? fieldOf(error) : undefined;
  if (field !== undefined) return { response_action: 'errors', errors: { [field]: plainWords(words) } };
  return { response_action: 'update', view: noticeView('That did not work', words) };
}

function fieldOf(refusal: Refusal): string | undefined {
  if (refusal.code === 'bad_label') return 'label';
  if (refusal.code !== 'unknown_choice') return undefined;
  return (refusal as Refusal<'unknown_choice'>).details.field;
}

/** Errors beside fields are plain text: no code marks, no entities. */
function plainWords(words: string): string {
  return words.replaceAll('`', '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}
