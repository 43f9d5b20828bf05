import type { PageState } from '../../../slack/page-api.ts';
import { IconButton } from '../controls.tsx';
import { changeScreen, type PanelTab, useScreen } from '../state.ts';
import { Account } from './account.tsx';
import { Tour, TourCount } from './tour.tsx';
import { BrokenRuleCount, Traffic } from './traffic.tsx';

/** What Slack would not show: the tour, the hosting account, broken rules and all requests. */
export function Panel({ state }: { readonly state: PageState }) {
  const { brokenRules, traffic } = state;
  const tab = useScreen((screen) => screen.panelTab);
  const panel = useScreen((screen) => screen.panel);
  return (
    <div class="panel">
      <div class="row panel-head">
        <h2>Behind the scenes</h2>
        <IconButton
          name="close"
          label="Close the panel"
          onClick={() => changeScreen({ drawer: 'none', isPanelOpen: false })}
        />
      </div>
      <PanelTabs brokenRules={brokenRules.length} />
      <div key={tab} class="panel-body" role="tabpanel" aria-labelledby={`panel-tab-${tab}`}>
        {tab === 'tour' && panel && <Tour panel={panel} />}
        {tab === 'account' && panel && <Account panel={panel} />}
        {tab === 'traffic' && (
          <Traffic brokenRules={brokenRules} entries={traffic} requests={panel?.requests ?? []} />
        )}
      </div>
    </div>
  );
}

const TABS: readonly (readonly [PanelTab, string])[] = [
  ['tour', 'Tour'],
  ['account', 'Hosting account'],
  ['traffic', 'Traffic'],
];

function PanelTabs({ brokenRules }: { readonly brokenRules: number }) {
  const shown = useScreen((screen) => screen.panelTab);
  const move = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const at = TABS.findIndex(([tab]) => tab === shown);
    const [next] = TABS.at((at + step) % TABS.length) ?? [];
    if (next) changeScreen({ panelTab: next });
    document.getElementById(`panel-tab-${next}`)?.focus();
  };
  return (
    <div class="tabs panel-tabs" role="tablist" aria-label="Behind the scenes" onKeyDown={move}>
      {TABS.map(([tab, words]) => (
        <button
          key={tab}
          id={`panel-tab-${tab}`}
          type="button"
          role="tab"
          aria-selected={tab === shown}
          tabIndex={tab === shown ? 0 : -1}
          onClick={() => changeScreen({ panelTab: tab })}
        >
          {words}
          {tab === 'tour' && <TourCount />}
          {tab === 'traffic' && <BrokenRuleCount brokenRules={brokenRules} />}
        </button>
      ))}
    </div>
  );
}
