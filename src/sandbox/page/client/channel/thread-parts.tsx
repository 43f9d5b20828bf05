import { Icon } from '../icon.tsx';
import { changeScreen } from '../state/store.ts';
import { clockTime, dateOfTs } from '../text/dates.ts';
import type { Replies } from './threads.ts';

/** Under a message with replies: opens its thread. */
export function ReplyCount({ root, replies }: { readonly root: string; readonly replies: Replies }) {
  const { count, lastTs } = replies;
  return (
    <button type="button" class="reply-count" onClick={() => changeScreen({ thread: root })}>
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
    <div class="thread-header">
      <h2>Thread</h2>
      <span class="thread-place">{channelName}</span>
      <span class="grow" />
      <button
        type="button"
        class="icon-button"
        aria-label="Close thread"
        onClick={() => changeScreen({ thread: '' })}
      >
        <Icon name="close" />
      </button>
    </div>
  );
}
