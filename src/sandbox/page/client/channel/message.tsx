import { useMemo } from 'preact/hooks';
import type { PageMessage, PageUser } from '../../../slack/page-api.ts';
import { Attachments } from '../blocks/attachments.tsx';
import { Blocks } from '../blocks/block-view.tsx';
import { SurfaceContext } from '../elements/surface.ts';
import { Icon } from '../icon.tsx';
import { useScreen } from '../state/store.ts';
import { clockTime, dateOfTs } from '../text/dates.ts';
import { Mrkdwn } from '../text/text-view.tsx';
import { Avatar } from './avatar.tsx';
import { MessageTools } from './message-tools.tsx';
import { ReplyCount } from './thread-parts.tsx';
import type { Replies } from './threads.ts';

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
  return useMemo(
    () => <Drawn message={message} isFollowing={isFollowing} replies={replies} author={author} />,
    [message, isFollowing, replies?.count, author],
  );
}

function Drawn({
  message,
  isFollowing,
  replies,
  author,
}: MessageProps & { readonly author: PageUser | undefined }) {
  const { channel, ts } = message;
  const surface = useMemo(
    () => ({ place: { channel, ts }, values: message.values, errors: {} }),
    [channel, ts, message.values],
  );
  const name = author?.realName ?? 'Sandbox';
  return (
    <article
      class={`message ${message.ephemeral ? 'ephemeral' : ''} ${isFollowing ? 'following' : ''}`}
      aria-label={`${name}, ${clockTime(dateOfTs(ts))}${message.ephemeral ? ', only visible to you' : ''}`}
    >
      <div class="message-side">{isFollowing ? <Clock ts={ts} /> : <Avatar user={author} />}</div>
      <div class="message-main">
        {message.ephemeral && (
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
          <SurfaceContext.Provider value={surface}>
            {message.blocks.length > 0 ? <Blocks blocks={message.blocks} /> : <Mrkdwn text={message.text} />}
            <Attachments attachments={message.attachments} />
          </SurfaceContext.Provider>
          {message.edited && <span class="edited"> (edited)</span>}
        </div>
        {replies && <ReplyCount root={ts} replies={replies} />}
      </div>
      <MessageTools message={message} />
    </article>
  );
}

function Clock({ ts }: { readonly ts: string }) {
  const date = dateOfTs(ts);
  return (
    <time class="clock" dateTime={date.toISOString()} title={date.toLocaleString()}>
      {clockTime(date)}
    </time>
  );
}
