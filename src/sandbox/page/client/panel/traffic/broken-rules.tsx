import type { BrokenRule } from '../../../../slack/page-api.ts';
import { clockTime } from '../../text/dates.ts';

/** The rules that the app broke, newest first. */
export function BrokenRules({ brokenRules }: { readonly brokenRules: readonly BrokenRule[] }) {
  return (
    <section aria-labelledby="broken-rules-title">
      <h3 id="broken-rules-title">Slack's rules</h3>
      {brokenRules.length === 0 && <p class="all-well">✓ None broken</p>}
      <div role="log" aria-label="Broken rules">
        <ul class="broken-rules">
          {brokenRules.toReversed().map((rule, index) => (
            <li key={brokenRules.length - index} class="broken-rule">
              <strong>{rule.rule.replaceAll('_', ' ')}</strong> <time>{clockTime(new Date(rule.at))}</time>
              <div>{rule.words}</div>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
