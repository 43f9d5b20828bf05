import type { PageState } from '../../slack/page-api.ts';
import { dismissNotice } from './actions.ts';
import { ChannelHeader, Home } from './channel/channel-header.tsx';
import { Composer } from './channel/composer.tsx';
import { MessageList, ThreadHeader } from './channel/messages.tsx';
import { IconButton } from './controls.tsx';
import { ConfirmDialog, OpenModal } from './modal.tsx';
import { useDrawer } from './navigate.ts';
import { Panel } from './panel/panel.tsx';
import { Sidebar } from './sidebar.tsx';
import { changeScreen, type Screen, useScreen } from './state.ts';

export function App() {
  const state = useScreen((screen) => screen.state);
  const link = useScreen((screen) => screen.link);
  return (
    <>
      {state ? <Workspace state={state} /> : <Waiting link={link} />}
      <OpenModal />
      <ConfirmDialog />
      <Notices />
    </>
  );
}

function Workspace({ state }: { readonly state: PageState }) {
  const drawer = useScreen((screen) => screen.drawer);
  const isPanelOpen = useScreen((screen) => screen.isPanelOpen);
  useDrawer(drawer);
  const tab = useScreen((screen) => screen.tab);
  const selected = useScreen((screen) => screen.channel);
  const thread = useScreen((screen) => screen.thread);
  const channel = state.channels.find(({ id }) => id === selected);
  const key = `${state.as.id}/${selected}/${thread}`;
  return (
    <div class={`workspace-frame drawer-${drawer} ${isPanelOpen ? 'with-panel' : ''}`}>
      <Sidebar state={state} />
      <main class="channel" inert={drawer !== 'none'}>
        {channel ? (
          <>
            <ChannelHeader channel={channel} state={state} />
            {channel.kind === 'dm' && tab === 'home' ? (
              <Home view={state.home} appName={state.app.name} />
            ) : (
              <>
                {thread && <ThreadHeader channelName={channel.name} />}
                <MessageList key={`list ${key}`} channel={channel} me={state.as.id} thread={thread} />
                <Composer key={`composer ${key}`} channel={channel} state={state} thread={thread} />
              </>
            )}
          </>
        ) : (
          <p class="beginning">{state.as.realName} is not in any channel.</p>
        )}
      </main>
      <aside class="panel-frame" aria-label="Behind the scenes">
        <Panel state={state} />
      </aside>
      {drawer !== 'none' && (
        <button
          type="button"
          class="drawer-shade"
          aria-label="Close the drawer"
          onClick={() => changeScreen({ drawer: 'none' })}
        />
      )}
    </div>
  );
}

function Waiting({ link }: { readonly link: Screen['link'] }) {
  if (link === 'refused')
    return (
      <p class="waiting">
        No such user. <a href="/">Continue as the owner</a>.
      </p>
    );
  return <p class="waiting">{link === 'lost' ? 'The sandbox isn’t answering. Is it still running?' : ''}</p>;
}

/** Refusals and the like, at the top for a few seconds: what was just said stays in sight. */
export function Notices() {
  const notices = useScreen((screen) => screen.notices);
  return (
    <div class="notices" role="alert">
      {notices.map(({ id, words }) => (
        <div key={id} class="row notice">
          {words}
          <IconButton name="close" label="Dismiss" onClick={() => dismissNotice(id)} />
        </div>
      ))}
    </div>
  );
}
