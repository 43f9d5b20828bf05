import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PageChannel, PageMessage } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { Attachments, Blocks } from '../blocks/block-view.tsx';
import { IconButton } from '../controls.tsx';
import { MenuButton, scrollable } from '../elements/popup.tsx';
import { SurfaceContext } from '../elements/spot.ts';
import { Avatar, Icon } from '../icon.tsx';
import { changeScreen, sandboxNow, useScreen } from '../state.ts';
import { clockTime, dateOfTs, describeDay } from '../text/parse.ts';
import { Mrkdwn, Reactions } from '../text/view.tsx';

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
  const replies = useMemo(() => countReplies(channel.messages), [channel.messages]);
  const messages = useMemo(() => {
    if (thread === '') return messagesOfChannel(channel.messages);
    return channel.messages.filter(({ ts, threadTs }) => ts === thread || threadTs === thread);
  }, [channel.messages, thread]);
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
          {messages.slice(-drawn).map((message, index, all) => (
            <Entry
              key={message.ts}
              message={message}
              previous={all[index - 1]}
              replies={thread ? undefined : replies.get(message.ts)}
            />
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
      {isNewDay && <div class="row quiet day">{describeDay(dateOfTs(message.ts), sandboxNow())}</div>}
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

interface MessageProps {
  readonly message: PageMessage;
  /** Written right after another one of the same user: no name shown. */
  readonly isFollowing: boolean;
  /** Where the channel shows it, and it has replies. */
  readonly replies?: Replies | undefined;
}

/** One message; redrawn only when it has changed. */
export function Message({ message, isFollowing, replies }: MessageProps) {
  const people = useScreen((screen) => screen.state?.people);
  const author = people?.find(({ id }) => id === message.user);
  return useMemo(() => {
    const { channel, ts, values, ephemeral } = message;
    const name = author?.realName ?? 'Sandbox';
    return (
      <article
        class={`message ${ephemeral ? 'ephemeral' : ''} ${isFollowing ? 'following' : ''}`}
        aria-label={`${name}, ${clockTime(dateOfTs(ts))}${ephemeral ? ', only visible to you' : ''}`}
      >
        <div class="message-side">{isFollowing ? <Clock ts={ts} /> : <Avatar user={author} />}</div>
        <div class="grow message-main">
          {ephemeral && (
            <div class="only-you">
              <Icon name="eye" /> Only visible to you
            </div>
          )}
          {!isFollowing && (
            <div class="message-head">
              <strong>{name}</strong>
              {author?.isBot && <span class="badge">APP</span>}
              {author?.isExternal && <span class="badge">other organization</span>}
              <Clock ts={ts} />
            </div>
          )}
          <div class="message-body">
            <SurfaceContext.Provider value={{ place: { channel, ts }, values, errors: {} }}>
              {message.blocks.length > 0 ? (
                <Blocks blocks={message.blocks} />
              ) : (
                <Mrkdwn text={message.text} />
              )}
              <Attachments attachments={message.attachments} />
            </SurfaceContext.Provider>
            {message.edited && <span class="edited"> (edited)</span>}
          </div>
          {message.reactions.length > 0 && <Reactions names={message.reactions} />}
          {replies && <ReplyCount root={ts} replies={replies} />}
        </div>
        <MessageTools message={message} />
      </article>
    );
  }, [message, isFollowing, replies?.count, author]);
}

function Clock({ ts }: { readonly ts: string }) {
  const date = dateOfTs(ts);
  return (
    <time class="clock" dateTime={date.toISOString()} title={date.toLocaleString()}>
      {clockTime(date)}
    </time>
  );
}

/** A reply in its thread, and the app's shortcuts for this message; ephemeral messages have none, as in Slack. */
function MessageTools({ message }: { readonly message: PageMessage }) {
  const shortcuts = useScreen((screen) => screen.state?.shortcuts);
  const openThread = useScreen((screen) => screen.thread);
  const forMessages = (shortcuts ?? []).filter(({ type }) => type === 'message');
  if (message.ephemeral) return null;
  const { channel, ts, threadTs } = message;
  const reply = { words: 'Reply in thread', choose: () => changeScreen({ thread: threadTs ?? ts }) };
  const ofApp = forMessages.map(({ callbackId, name }) => ({
    words: name,
    choose: () => void performWithNotice({ do: 'shortcut', callbackId, message: { channel, ts } }),
  }));
  const items = [...(openThread === '' ? [reply] : []), ...ofApp];
  if (items.length === 0) return null;
  return (
    <div class="message-tools">
      <MenuButton class="button small" label="More message actions" menu="Message actions" items={items}>
        ⋮
      </MenuButton>
    </div>
  );
}

/** Under a message with replies: opens its thread. */
function ReplyCount({ root, replies }: { readonly root: string; readonly replies: Replies }) {
  const { count, lastTs } = replies;
  return (
    <button type="button" class="quiet reply-count" onClick={() => changeScreen({ thread: root })}>
      <strong>
        {count} {count === 1 ? 'reply' : 'replies'}
      </strong>{' '}
      <span>Last reply at {clockTime(dateOfTs(lastTs))}</span>
    </button>
  );
}

/** Above a thread: its name, and the way back to the channel. */
export function ThreadHeader({ channelName }: { readonly channelName: string }) {
  return (
    <div class="row thread-header">
      <h2>Thread</h2>
      <span class="quiet thread-place">{channelName}</span>
      <span class="grow" />
      <IconButton name="close" label="Close thread" onClick={() => changeScreen({ thread: '' })} />
    </div>
  );
}

/** The replies to a message, as its channel shows them: how many, and when the last one came. */
interface Replies {
  readonly count: number;
  readonly lastTs: string;
}

/** What a channel shows: no replies, except those to a message that is gone. */
function messagesOfChannel(messages: readonly PageMessage[]): readonly PageMessage[] {
  const all = new Set(messages.map(({ ts }) => ts));
  return messages.filter(
    ({ ts, threadTs }) => threadTs === undefined || threadTs === ts || !all.has(threadTs),
  );
}

function countReplies(messages: readonly PageMessage[]): ReadonlyMap<string, Replies> {
  const found = new Map<string, Replies>();
  for (const { ts, threadTs } of messages) {
    if (threadTs === undefined || threadTs === ts) continue;
    found.set(threadTs, { count: (found.get(threadTs)?.count ?? 0) + 1, lastTs: ts });
  }
  return found;
}

type Element = { readonly current: HTMLElement | null };

const NEAR_END_PX = 60;

/** A reader at the end of the list stays there; others see a note that there is something new. */
function useEnd(list: Element, messages: readonly PageMessage[], me: string) {
  const isAtEnd = useRef(true);
  const newest = useRef<string>();
  const [hasNews, setNews] = useState(false);
  const toEnd = () => list.current?.scrollTo({ top: list.current.scrollHeight });
  useLayoutEffect(() => {
    // The user's own message, or an ephemeral answer to it, is scrolled into view.
    const last = messages.at(-1);
    const isNew = last?.ts !== newest.current;
    const isForMe = last?.user === me || last?.ephemeral === true;
    if (isAtEnd.current || (isForMe && isNew)) toEnd();
    else if (isNew) setNews(true);
    newest.current = last?.ts;
  }, [messages]);
  useEffect(() => {
    // A page of a table that is turned, a keyboard that comes up: heights change without any message.
    const sizes = new ResizeObserver(() => isAtEnd.current && toEnd());
    for (const each of [list.current, list.current?.firstElementChild]) if (each) sizes.observe(each);
    return () => sizes.disconnect();
  }, []);
  const scrolled = () => {
    if (!list.current) return;
    const { scrollTop, scrollHeight, clientHeight } = list.current;
    isAtEnd.current = scrollHeight - scrollTop - clientHeight < NEAR_END_PX;
    if (isAtEnd.current) setNews(false);
  };
  return { hasNews, toEnd, scrolled };
}

/** So many messages are drawn at first. */
const DRAWN = 120;
/** Messages added each time: few enough for one frame, enough to stay ahead of scrolling. */
const DRAWN_MORE = 50;

/** How many messages are drawn: older ones before one has scrolled up to them; what is being read stays in place. */
function useOlder(list: Element, older: Element): number {
  const [drawn, setDrawn] = useState(DRAWN);
  const heightBefore = useRef<number>();
  useLayoutEffect(() => {
    const { current } = list;
    // The browser keeps the scroll position, except at the very top.
    if (current?.scrollTop === 0 && heightBefore.current !== undefined)
      current.scrollTop = current.scrollHeight - heightBefore.current;
    heightBefore.current = undefined;
    const grow: IntersectionObserverCallback = ([entry]) => {
      if (!entry?.isIntersecting) return;
      heightBefore.current = list.current?.scrollHeight;
      setDrawn(drawn + DRAWN_MORE);
    };
    const seen = new IntersectionObserver(grow, { root: current, rootMargin: '800px 0px 0px' });
    if (older.current) seen.observe(older.current);
    return () => seen.disconnect();
  }, [list, older, drawn]);
  return drawn;
}
