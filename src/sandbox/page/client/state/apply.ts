import type { PageEvent, PageMessage, PageState } from '../../../slack/page-api.ts';

/** As many requests as the page shows; a sandbox may run for days. */
const TRAFFIC_KEPT = 300;

/** What a user sees after an event. The same event twice makes no difference: events are replayed after a resync. */
export function applyEvent(state: PageState, event: PageEvent): PageState {
  switch (event.type) {
    case 'message':
    case 'message_changed':
      return changeMessages(state, event.message.channel, (messages) => putMessage(messages, event.message));
    case 'message_deleted':
      return changeMessages(state, event.channel, (messages) => messages.filter(({ ts }) => ts !== event.ts));
    case 'views':
      return { ...state, views: event.views };
    case 'home':
      return { ...state, home: event.view };
    case 'traffic': {
      const others = state.traffic.filter(({ id }) => id !== event.entry.id);
      return { ...state, traffic: [...others, event.entry].slice(-TRAFFIC_KEPT) };
    }
    case 'broken_rule': {
      const { rule } = event;
      const isKnown = state.brokenRules.some(
        (each) => each.at === rule.at && each.rule === rule.rule && each.words === rule.words,
      );
      return isKnown ? state : { ...state, brokenRules: [...state.brokenRules, rule] };
    }
    case 'reload':
      return state;
  }
}

function changeMessages(
  state: PageState,
  channelId: string,
  change: (messages: readonly PageMessage[]) => readonly PageMessage[],
): PageState {
  return {
    ...state,
    channels: state.channels.map((channel) =>
      channel.id === channelId ? { ...channel, messages: change(channel.messages) } : channel,
    ),
  };
}

function putMessage(messages: readonly PageMessage[], message: PageMessage): readonly PageMessage[] {
  const at = messages.findIndex(({ ts }) => ts === message.ts);
  if (at >= 0) return messages.with(at, message);
  const after = messages.findLastIndex(({ ts }) => ts < message.ts);
  return messages.toSpliced(after + 1, 0, message);
}
