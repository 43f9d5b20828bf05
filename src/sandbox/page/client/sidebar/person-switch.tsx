import { useCallback, useRef, useState } from 'preact/hooks';
import type { PagePerson, PageState } from '../../../slack/page-api.ts';
import { Avatar } from '../channel/avatar.tsx';
import { Popup } from '../elements/popup.tsx';
import { Icon } from '../icon.tsx';
import { addressOf, becomePerson } from '../navigate.ts';

/** Who sits here; somebody else takes the seat, or another tab. */
export function PersonSwitch({ state }: { readonly state: PageState }) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const close = useCallback(() => setOpen(false), []);
  return (
    <div class="person-switch">
      <button
        ref={button}
        type="button"
        class="person-button"
        aria-expanded={isOpen}
        aria-label={`You are ${state.as.realName}, ${state.as.title}. Be somebody else`}
        onClick={() => setOpen(!isOpen)}
      >
        <Avatar person={state.as} size="small" />
        <PersonWords person={state.as} />
        <Icon name="upDown" />
      </button>
      {isOpen && (
        <Popup anchor={button} onClose={close} above wide class="people">
          <People state={state} anchor={button} onClose={close} />
        </Popup>
      )}
    </div>
  );
}

interface PeopleProps {
  readonly state: PageState;
  readonly anchor: { readonly current: HTMLButtonElement | null };
  readonly onClose: () => void;
}

function People({ state, anchor, onClose }: PeopleProps) {
  const list = useRef<HTMLUListElement>(null);
  const move = (event: KeyboardEvent) => {
    const links = [...(list.current?.querySelectorAll('a') ?? [])];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) links.at((at + step) % links.length)?.focus();
    else if (event.key === 'Escape') {
      onClose();
      anchor.current?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys move between the links inside
    <div onKeyDown={move} ref={(element) => element?.querySelector<HTMLElement>('[aria-current]')?.focus()}>
      <div class="group-label">Be somebody else</div>
      <ul ref={list}>
        {state.people
          .filter(({ isBot, isDeactivated }) => !isBot && !isDeactivated)
          .map((person) => (
            <li key={person.id}>
              <a
                href={addressOf(person)}
                aria-current={person.id === state.as.id ? 'true' : undefined}
                onClick={(event) => {
                  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                  event.preventDefault();
                  onClose();
                  becomePerson(person.id);
                }}
              >
                <Avatar person={person} size="small" />
                <PersonWords person={person} />
              </a>
            </li>
          ))}
      </ul>
      <div class="popup-hint">Ctrl-click opens another tab: both stay live.</div>
    </div>
  );
}

function PersonWords({ person }: { readonly person: PagePerson }) {
  return (
    <span class="person-words">
      <span class="person-name">{person.realName}</span>
      <span class="person-title">
        @{person.name} · {person.title}
      </span>
    </span>
  );
}
