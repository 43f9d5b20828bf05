import type { z } from 'zod';
import type { Thread } from '../../domain/thread.ts';
import { section, textMessage } from '../kit/blocks.ts';
import { cardView } from '../kit/card-view.ts';
import { fillView, loadingView } from '../kit/form.ts';
import type { Shortcut } from '../kit/shortcut.ts';
import { isRefused } from './admission.ts';
import { whyNotOpened } from './not-opened.ts';
import { actorOf, channelOf, placeOf, shortcutPayload, triggerId } from './payloads.ts';
import { replyTo } from './reply-paths.ts';
import type { SlackRequest } from './request.ts';
import { createRequest } from './request-factory.ts';
import { callerOf, type Delivery, type Routing, sendUnreadable } from './routing.ts';

/** A shortcut opens its modal before anything is looked up: its trigger lives for 3 s. */
export async function dispatchShortcut(body: unknown, delivery: Delivery, routing: Routing): Promise<void> {
  const payload = shortcutPayload.safeParse(body).data;
  if (!payload) return sendUnreadable(body, routing);
  const shortcut = routing.shortcuts.get(payload.callback_id);
  const actor = actorOf(payload, channelOf(payload));
  const { trigger_id: trigger, message } = payload;
  const slack = routing.clients.of(actor.workspaceId);
  const opened = shortcut && trigger ? await slack.openView(trigger, loadingView(shortcut.title)) : undefined;
  const thread = threadFrom(message);
  const reply = replyTo(payload.response_url, actor, routing, thread);
  if (await isRefused(placeOf(payload, actor), reply, routing, { hasBegun: false })) return;
  if (!shortcut || !opened?.ok) {
    const why = opened?.ok === false ? whyNotOpened(opened.error) : 'too_late';
    await reply.send(textMessage(shortcut ? NOT_OPENED[why] : NO_SHORTCUT));
    return;
  }
  const id = triggerId('shortcut', trigger, actor);
  const caller = callerOf(actor, 'shortcut', id, delivery);
  const request = await createRequest(routing, caller, reply, undefined, thread);
  await fill(shortcut, message, opened.viewId, request, routing);
}

async function fill(
  shortcut: Shortcut,
  message: unknown,
  viewId: string,
  request: SlackRequest,
  { nextSteps }: Routing,
): Promise<void> {
  const origin = await request.views.storeOrigin();
  const load = async () => {
    await request.authorize(shortcut.needs);
    return shortcut.load(message, request, origin);
  };
  const view = await load().catch((error: unknown) =>
    cardView(shortcut.title, origin, { blocks: [section(request.explain(error)), ...nextSteps(error)] }),
  );
  await fillView(viewId, view, shortcut.title, request);
}

type Message = z.output<typeof shortcutPayload>['message'];

/** A message has a `thread_ts` as soon as there are replies. */
function threadFrom(message: Message): Thread | undefined {
  return message
    ? { ts: message.thread_ts ?? message.ts, isOpen: message.thread_ts !== undefined }
    : undefined;
}

/** An older or an edited manifest may offer others. */
const NO_SHORTCUT = 'This app doesn’t have that shortcut. `/vps help` lists what you can do.';
const NOT_OPENED = {
  too_late: 'The window took too long to open, so nothing was done. Use the shortcut again.',
  refused: 'Slack refused to open the window, so nothing was done. Use the shortcut again.',
  unanswered:
    'Slack didn’t confirm that the window opened. If you don’t see it, or it stays on “Loading…”, use the shortcut again.',
} as const;
