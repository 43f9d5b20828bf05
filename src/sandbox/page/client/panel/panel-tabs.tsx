import type { PanelTab } from '../state/screen.ts';
import { changeScreen, useScreen } from '../state/store.ts';
import { TourCount } from './tour/tour-count.tsx';

const TABS: readonly (readonly [PanelTab, string])[] = [
  ['tour', 'Tour'],
  ['account', 'Hosting account'],
  ['traffic', 'Traffic'],
];

/** The tabs of the panel; arrow keys move between them. */
export function PanelTabs({ brokenRules }: { readonly brokenRules: number }) {
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
          {tab === 'traffic' && brokenRules > 0 && (
            <span class="ping" title={`${brokenRules} broken rules`}>
              {brokenRules}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
