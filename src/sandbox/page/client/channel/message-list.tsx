import { useMemo, useRef } from 'preact/hooks';
import type { PageChannel, PageMessage } from '../../../slack/page-api.ts';
import { scrollable } from '../elements/scrollable.ts';
import { sandboxNow } from '../state/panel-state.ts';
import { useScreen } from '../state/store.ts';
import { dateOfTs, describeDay } from '../text/dates.ts';
import { Message } from './message.tsx';
import { useEnd, useOlder } from './scrolling.ts';
import { countReplies, messagesOfChannel, messagesOfThread, type Replies } from './threads.ts';

/** Messages of one user within five minutes are grouped. */
const TOGETHER_SECONDS = 300;

interface ListProps {
  readonly channel: PageChannel;
  readonly me: string;
  /** The first message of the open thread; empty: the channel itself. */
  readonly thread: string;
}

/** The messages of a channel or a thread; stays at the end unless the reader has scrolled up. */
export function MessageList({ channel, me, thread }: ListProps) {
  const list = useRef<HTMLDivElement>(null);
  const older = useRef<HTMLDivElement>(null);
  const { messages, replies } = useShown(channel.messages, thread);
  const drawn = useOlder(list, older);
  const { hasNews, toEnd, scrolled } = useEnd(list, messages, me);
  return (
    <div class="messages-frame">
      <div
        ref={list}
        class="messages"
        role="log"
        aria-live="polite"
        aria-label={thread ? `Messages in a thread of ${channel.name}` : `Messages in ${channel.name}`}
        {...scrollable}
        onScroll={scrolled}
      >
        <div class="messages-inside">
          {drawn < messages.length ? (
            <div ref={older} class="older">
              Older messages…
            </div>
          ) : (
            thread === '' && <Beginning channel={channel} />
          )}
          <Entries messages={messages.slice(-drawn)} replies={replies} />
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

/** What is listed, and the replies of which only the number is. */
function useShown(all: readonly PageMessage[], thread: string) {
  return useMemo(
    () =>
      thread
        ? { messages: messagesOfThread(all, thread), replies: NO_REPLIES }
        : { messages: messagesOfChannel(all), replies: countReplies(all) },
    [all, thread],
  );
}

const NO_REPLIES: ReturnType<typeof countReplies> = new Map();

interface EntriesProps {
  readonly messages: readonly PageMessage[];
  readonly replies: ReadonlyMap<string, Replies>;
}

function Entries({ messages, replies }: EntriesProps) {
  return (
    <>
      {messages.map((message, index) => (
        <Entry
          key={message.ts}
          message={message}
          previous={messages[index - 1]}
          replies={replies.get(message.ts)}
        />
      ))}
    </>
  );
}

interface EntryProps {
  readonly message: PageMessage;
  readonly previous: PageMessage | undefined;
  readonly replies: Replies | undefined;
}

function Entry({ message, previous, replies }: EntryProps) {
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
      <Message message={message} isFollowing={isFollowing} replies={replies} />
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
