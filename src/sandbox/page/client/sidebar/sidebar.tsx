import type { PageChannel, PageState } from '../../../slack/page-api.ts';
import { channelIcon } from '../channel/channel-header.tsx';
import { Icon } from '../icon.tsx';
import { selectChannel } from '../navigate.ts';
import { changeScreen, useScreen } from '../state/store.ts';
import { countUnread } from '../state/unread.ts';
import { UserSwitch } from './user-switch.tsx';

/** Workspace, channels, the conversation with the app, and the current user. */
export function Sidebar({ state }: { readonly state: PageState }) {
  const link = useScreen((screen) => screen.link);
  const channels = state.channels.filter(({ kind }) => kind !== 'dm');
  const conversations = state.channels.filter(({ kind }) => kind === 'dm');
  return (
    <div class="sidebar">
      <div class="workspace">
        <strong>{state.team.name}</strong>
        <span class={`link ${link}`} role="status">
          {link === 'live' ? 'live' : 'reconnecting…'}
        </span>
        <button
          type="button"
          class="icon-button drawer-button"
          aria-label="Close the sidebar"
          onClick={() => changeScreen({ drawer: 'none' })}
        >
          <Icon name="close" />
        </button>
      </div>
      <nav aria-label="Channels">
        <ChannelGroup title="Channels" channels={channels} />
        {conversations.length > 0 && <ChannelGroup title="Apps" channels={conversations} />}
      </nav>
      <UserSwitch state={state} />
    </div>
  );
}

function ChannelGroup({
  title,
  channels,
}: {
  readonly title: string;
  readonly channels: readonly PageChannel[];
}) {
  return (
    <div class="channel-group">
      <h2>{title}</h2>
      <ul>
        {channels.map((channel) => (
          <ChannelRow key={channel.id} channel={channel} />
        ))}
      </ul>
    </div>
  );
}

function ChannelRow({ channel }: { readonly channel: PageChannel }) {
  const isSelected = useScreen((screen) => screen.channel === channel.id);
  const count = useScreen((screen) => countUnread(screen, channel).count);
  const pings = useScreen((screen) => countUnread(screen, channel).pings);
  return (
    <li>
      <button
        type="button"
        class={`channel-row ${count > 0 ? 'unread' : ''}`}
        aria-label={count > 0 ? `${channel.name}, ${count} unread` : channel.name}
        aria-current={isSelected ? 'page' : undefined}
        onClick={() => selectChannel(channel)}
      >
        <Icon name={channelIcon(channel.kind)} />
        <span class="channel-name">{channel.name}</span>
        {pings > 0 && (
          <span class="ping" title={`${pings} for you`}>
            {pings}
          </span>
        )}
      </button>
    </li>
  );
}
