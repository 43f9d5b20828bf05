import { useRef } from 'preact/hooks';
import type { PageChannel, PageMessage } from '../../../slack/page-api.ts';
import { sandboxNow } from '../state/panel-state.ts';
import { useScreen } from '../state/store.ts';
import { dateOfTs, describeDay } from '../text/dates.ts';
import { Message } from './message.tsx';
import { useEnd, useOlder } from './scrolling.ts';

/** Messages of one user within five minutes are grouped. */
const TOGETHER_SECONDS = 300;

/** The messages of a channel; stays at the end unless the reader has scrolled up. */
export function MessageList({ channel, me }: { readonly channel: PageChannel; readonly me: string }) {
  const list = useRef<HTMLDivElement>(null);
  const older = useRef<HTMLDivElement>(null);
  const { messages } = channel;
  const drawn = useOlder(list, older);
  const { hasNews, toEnd, scrolled } = useEnd(list, messages, me);
  const shown = messages.slice(-drawn);
  return (
    <div class="messages-frame">
      <div
        ref={list}
        class="messages"
        role="log"
        aria-live="polite"
        aria-label={`Messages in ${channel.name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        onScroll={scrolled}
      >
        <div class="messages-inside">
          {drawn < messages.length ? (
            <div ref={older} class="older">
              Older messages…
            </div>
          ) : (
            <Beginning channel={channel} />
          )}
          {shown.map((message, index) => (
            <Entry key={message.ts} message={message} previous={shown[index - 1]} />
          ))}
        </div>
      </div>
      {hasNews && (
        <button type="button" class="news" onClick={toEnd}>
          New messages ↓
        </button>
      )}
    </div>
  );
}

function Entry({ message, previous }: { message: PageMessage; previous: PageMessage | undefined }) {
  const day = dateOfTs(message.ts).toDateString();
  const isNewDay = !previous || dateOfTs(previous.ts).toDateString() !== day;
  const isFollowing =
    !isNewDay &&
    previous.user === message.user &&
    !previous.ephemeral &&
    !message.ephemeral &&
    Number(message.ts) - Number(previous.ts) < TOGETHER_SECONDS;
  return (
    <>
      {isNewDay && <div class="day">{describeDay(dateOfTs(message.ts), sandboxNow())}</div>}
      <Message message={message} isFollowing={isFollowing} />
    </>
  );
}

function Beginning({ channel }: { readonly channel: PageChannel }) {
  const hasCommands = useScreen((screen) => (screen.state?.commands.length ?? 0) > 0);
  const isDm = channel.kind === 'dm';
  const beginning = isDm
    ? `This is your conversation with ${channel.name}.`
    : `This is the very beginning of #${channel.name}.`;
  const hint = isDm ? 'Type / to see what it can do.' : 'Type / to see what the app can do.';
  return <p class="beginning">{hasCommands ? `${beginning} ${hint}` : beginning}</p>;
}
