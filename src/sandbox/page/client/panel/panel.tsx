import type { PageState } from '../../../slack/page-api.ts';
import { Icon } from '../icon.tsx';
import { usePanelState } from '../state/panel-state.ts';
import { changeScreen, useScreen } from '../state/store.ts';
import { Account } from './account/account.tsx';
import { Links } from './links.tsx';
import { PanelTabs } from './panel-tabs.tsx';
import { Tour } from './tour/tour.tsx';
import { Traffic } from './traffic/traffic.tsx';

/** What Slack would not show: the tour, the hosting account, broken rules and all requests. */
export function Panel({ state }: { readonly state: PageState }) {
  const { brokenRules, traffic } = state;
  const tab = useScreen((screen) => screen.panelTab);
  const isAlone = useScreen((screen) => screen.panel === 'none');
  const panel = usePanelState();
  return (
    <div class="panel">
      <div class="panel-head">
        <h2>Behind the scenes</h2>
        <button
          type="button"
          class="icon-button"
          aria-label="Close the panel"
          onClick={() => changeScreen({ drawer: 'none', isPanelOpen: false })}
        >
          <Icon name="close" />
        </button>
      </div>
      {isAlone ? (
        <div class="panel-body">
          <Links />
          <Traffic brokenRules={brokenRules} entries={traffic} requests={[]} />
        </div>
      ) : (
        <>
          <PanelTabs brokenRules={brokenRules.length} />
          <div key={tab} class="panel-body" role="tabpanel" aria-labelledby={`panel-tab-${tab}`}>
            {tab === 'tour' && panel && <Tour steps={panel.tour} panel={panel} />}
            {tab === 'account' && panel && <Account panel={panel} />}
            {tab === 'traffic' && (
              <Traffic brokenRules={brokenRules} entries={traffic} requests={panel?.requests ?? []} />
            )}
          </div>
        </>
      )}
    </div>
  );
}
