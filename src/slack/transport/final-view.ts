import type { ModalView } from '@slack/types';
import { withTimeout } from '../../app/with-timeout.ts';
import type { System } from '../../system.ts';
import type { SlackRequest } from './request.ts';

/** How long an ack waits for the view that is shown in the end, instead of one that says to wait. */
const WAIT_MS = 1000;
/** Slack gives up on an ack after 3 s. */
const ACK_WITHIN_MS = 2200;

/** What Slack takes everywhere. A view with any other block is not put into an ack: what Slack refuses there is not told. */
const PLAIN_BLOCKS = ['section', 'context', 'header', 'divider', 'actions', 'input'];

/** Takes the first update of a submitted modal, as long as its ack has not left. */
export interface FinalView {
  /** The same request, whose first update of the modal goes into the ack. */
  readonly request: SlackRequest;
  /** The view to acknowledge with, if it comes in time; from then on, updates are sent as any other ones. */
  take(): Promise<ModalView | undefined>;
}

/** Begins to wait for the final view of a modal that has just been submitted. */
export function awaitFinalView(request: SlackRequest, viewId: string, system: System): FinalView {
  const startedAt = system.elapsed();
  let isOpen = true;
  let resolve: (view: ModalView) => void = () => undefined;
  const first = new Promise<ModalView>((settle) => {
    resolve = settle;
  });
  const update: SlackRequest['views']['update'] = async (id, view) => {
    if (!isOpen || id !== viewId || !view.blocks.every(({ type }) => PLAIN_BLOCKS.includes(type))) {
      return request.views.update(id, view);
    }
    isOpen = false;
    resolve(view);
    return { ok: true };
  };
  return {
    request: { ...request, views: { ...request.views, update } },
    take: async () => {
      const leftMs = Math.max(0, ACK_WITHIN_MS - (system.elapsed() - startedAt));
      const view = await withTimeout(first, system, Math.min(WAIT_MS, leftMs));
      isOpen = false;
      return view;
    },
  };
}
