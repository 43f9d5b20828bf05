import { useCallback, useRef, useState } from 'preact/hooks';
import type { PageChannel, PageState, PageUser } from '../../slack/page-api.ts';
import { channelIcon } from './channel/channel-header.tsx';
import { IconButton } from './controls.tsx';
import { Popup } from './elements/popup.tsx';
import { Avatar, Icon } from './icon.tsx';
import { addressOf, selectChannel, switchUser } from './navigate.ts';
import { changeScreen, countUnread, useScreen } from './state.ts';

export function Sidebar({ state }: { readonly state: PageState }) {
  const link = useScreen((screen) => screen.link);
  const channels = state.channels.filter(({ kind }) => kind !== 'dm');
  const conversations = state.channels.filter(({ kind }) => kind === 'dm');
  return (
    <div class="sidebar">
      <div class="row workspace">
        <strong>{state.team.name}</strong>
        <span class={`link ${link}`} role="status">
          {link === 'live' ? 'live' : 'reconnecting…'}
        </span>
        <IconButton
          name="close"
          label="Close the sidebar"
          class="drawer-button"
          onClick={() => changeScreen({ drawer: 'none' })}
        />
      </div>
      <nav aria-label="Channels">
        <ChannelGroup title="Channels" channels={channels} />
        {conversations.length > 0 && <ChannelGroup title="Apps" channels={conversations} />}
      </nav>
      <UserSwitch state={state} />
    </div>
  );
}

function ChannelGroup({ title, channels }: { title: string; channels: readonly PageChannel[] }) {
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
        class={`row channel-row ${count > 0 ? 'unread' : ''}`}
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

function UserSwitch({ state }: { readonly state: PageState }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <div class="user-switch">
      <button
        ref={button}
        type="button"
        class="row user-button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <span class="visually-hidden">You are</span>
        <UserNames user={state.as} />
        <span class="visually-hidden">Switch user</span>
        <Icon name="upDown" />
      </button>
      {isOpen && (
        <Popup anchor={button} onClose={close} above wide class="people">
          <UserList state={state} onClose={close} />
        </Popup>
      )}
    </div>
  );
}

function UserList({ state, onClose }: { readonly state: PageState; readonly onClose: () => void }) {
  const list = useRef<HTMLUListElement>(null);
  const move = (event: KeyboardEvent) => {
    const links = [...(list.current?.querySelectorAll('a') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    links.at((at + step) % links.length)?.focus();
    event.preventDefault();
    event.stopPropagation();
  };
  const choose = (event: MouseEvent, id: string) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onClose();
    switchUser(id);
  };
  return (
    <div ref={(element) => element?.querySelector<HTMLElement>('[aria-current]')?.focus()}>
      <div class="quiet group-label">Switch user</div>
      <ul ref={list}>
        {state.people
          .filter(({ isBot, isDeactivated }) => !isBot && !isDeactivated)
          .map((user) => (
            <li key={user.id}>
              <a
                href={addressOf(user)}
                aria-current={user.id === state.as.id ? 'true' : undefined}
                onClick={(event) => choose(event, user.id)}
                onKeyDown={move}
              >
                <UserNames user={user} />
              </a>
            </li>
          ))}
      </ul>
      <div class="quiet popup-hint">Ctrl-click opens a new tab; both stay live.</div>
    </div>
  );
}

function UserNames({ user }: { readonly user: PageUser }) {
  return (
    <>
      <Avatar user={user} size="small" />
      <span class="user-words">
        <span class="user-name">{user.realName}</span>
        <span class="user-title">
          @{user.name} · {user.title}
        </span>
      </span>
    </>
  );
}
