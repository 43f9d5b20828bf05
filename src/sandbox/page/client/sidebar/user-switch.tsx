import { useCallback, useRef, useState } from 'preact/hooks';
import type { PageState, PageUser } from '../../../slack/page-api.ts';
import { Avatar } from '../channel/avatar.tsx';
import { Popup } from '../elements/popup.tsx';
import { Icon } from '../icon.tsx';
import { addressOf, switchUser } from '../navigate.ts';

/** Shows the current user, and switches to another one, here or in a new tab. */
export function UserSwitch({ state }: { readonly state: PageState }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <div class="user-switch">
      <button
        ref={button}
        type="button"
        class="user-button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Avatar user={state.as} size="small" />
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

interface UserListProps {
  readonly state: PageState;
  readonly onClose: () => void;
}

function UserList({ state, onClose }: UserListProps) {
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
  return (
    <div ref={(element) => element?.querySelector<HTMLElement>('[aria-current]')?.focus()}>
      <div class="group-label">Switch user</div>
      <ul ref={list}>
        {state.people
          .filter(({ isBot, isDeactivated }) => !isBot && !isDeactivated)
          .map((user) => (
            <li key={user.id}>
              <UserLink user={user} isCurrent={user.id === state.as.id} onClose={onClose} onKeyDown={move} />
            </li>
          ))}
      </ul>
      <div class="popup-hint">Ctrl-click opens a new tab; both stay live.</div>
    </div>
  );
}

interface UserLinkProps {
  readonly user: PageUser;
  readonly isCurrent: boolean;
  readonly onClose: () => void;
  /** The arrow keys move between the links. */
  readonly onKeyDown: (event: KeyboardEvent) => void;
}

function UserLink({ user, isCurrent, onClose, onKeyDown }: UserLinkProps) {
  const choose = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onClose();
    switchUser(user.id);
  };
  return (
    <a
      href={addressOf(user)}
      aria-current={isCurrent ? 'true' : undefined}
      onClick={choose}
      onKeyDown={onKeyDown}
    >
      <Avatar user={user} size="small" />
      <UserNames user={user} />
    </a>
  );
}

function UserNames({ user }: { readonly user: PageUser }) {
  return (
    <span class="user-words">
      <span class="user-name">{user.realName}</span>
      <span class="user-title">
        @{user.name} · {user.title}
      </span>
    </span>
  );
}
