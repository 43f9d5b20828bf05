import type { PageChannel, PageState, PageView } from '../../../slack/page-api.ts';
import { performWithNotice } from '../actions.ts';
import { Blocks } from '../blocks/block-view.tsx';
import { IconButton } from '../controls.tsx';
import { SurfaceContext } from '../elements/spot.ts';
import { Icon, type IconName } from '../icon.tsx';
import { hasOpenPanel, togglePanel } from '../navigate.ts';
import { TourCount } from '../panel/tour.tsx';
import { BrokenRuleCount } from '../panel/traffic.tsx';
import { changeScreen, useScreen } from '../state.ts';

export function channelIcon(kind: PageChannel['kind']): IconName {
  return ({ public: 'hash', private: 'lock', shared: 'shared', dm: 'app' } as const)[kind];
}

export function ChannelHeader({ channel, state }: { channel: PageChannel; state: PageState }) {
  const isPanelOpen = useScreen(hasOpenPanel);
  const isTouring = useScreen(({ panel }) => panel?.tour.some(({ isDone }) => !isDone) ?? false);
  const isDm = channel.kind === 'dm';
  return (
    <header class="row channel-header">
      <IconButton
        name="menu"
        label="Channels and users"
        class="drawer-button"
        onClick={() => changeScreen({ drawer: 'sidebar' })}
      />
      <h1>
        <Icon name={channelIcon(channel.kind)} />
        {channel.name}
      </h1>
      {isDm ? <Tabs /> : <Membership channel={channel} state={state} />}
      <span class="grow" />
      <button
        type="button"
        class="button small panel-button"
        aria-expanded={isPanelOpen}
        onClick={() => changeScreen(togglePanel)}
      >
        <BrokenRuleCount brokenRules={state.brokenRules.length} />
        {isTouring ? 'Tour ' : 'Panel'}
        {isTouring && <TourCount />}
      </button>
    </header>
  );
}

function Membership({ channel, state }: { readonly channel: PageChannel; readonly state: PageState }) {
  const members = state.people.filter(({ id, isBot }) => !isBot && channel.members.includes(id));
  const names = members.map(({ realName }) => realName);
  const app = state.app.name;
  const [presence, title] = channel.hasApp
    ? ['here', `${app} is a member of this channel.`]
    : [
        'not here',
        `${app} is not a member of this channel: its commands work, but it can’t post here on its own.`,
      ];
  return (
    <span class="row quiet channel-facts">
      <span title={names.join(', ')}>
        {members.length} <span class="wide-only">members</span>
        <span class="narrow-only">
          <Icon name="people" />
        </span>
      </span>
      <span class={channel.hasApp ? 'member-app' : 'member-app absent'} title={title}>
        {app} is {presence}
      </span>
      {channel.kind === 'shared' && (
        <span class="badge" title="People from another organization are in this channel.">
          shared
        </span>
      )}
    </span>
  );
}

const TABS = [
  ['home', 'Home'],
  ['messages', 'Messages'],
] as const;

function Tabs() {
  const tab = useScreen((screen) => screen.tab);
  const open = (opened: 'home' | 'messages') => {
    changeScreen({ tab: opened });
    void performWithNotice({ do: 'home', tab: opened });
  };
  return (
    <div class="tabs" role="tablist" aria-label="The app">
      {TABS.map(([id, words]) => (
        <button key={id} type="button" role="tab" aria-selected={tab === id} onClick={() => open(id)}>
          {words}
        </button>
      ))}
    </div>
  );
}

export function Home({ view, appName }: { readonly view: PageView | null; readonly appName: string }) {
  return (
    <section class="home" aria-label={`Home of ${appName}`}>
      {view ? (
        <SurfaceContext.Provider
          value={{ place: { view: view.id }, values: view.values, errors: view.errors }}
        >
          <Blocks blocks={view.blocks} />
        </SurfaceContext.Provider>
      ) : (
        <p class="beginning">
          {appName} hasn’t put anything here yet. Its commands work in every channel: type / under Messages.
        </p>
      )}
    </section>
  );
}
