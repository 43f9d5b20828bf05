import type { BrokenLaw } from '../../../../slack/page-api.ts';
import { clockTime } from '../../text/dates.ts';

/** The rules that the app broke, newest first. */
export function Laws({ laws }: { readonly laws: readonly BrokenLaw[] }) {
  return (
    <section aria-labelledby="laws-title">
      <h3 id="laws-title">Slack's rules</h3>
      {laws.length === 0 && <p class="all-well">✓ None broken</p>}
      <ul class="laws" role="log" aria-label="Broken rules">
        {laws.toReversed().map((law, index) => (
          <li key={laws.length - index} class="law">
            <strong>{law.law.replaceAll('_', ' ')}</strong> <time>{clockTime(new Date(law.at))}</time>
            <div>{law.words}</div>
          </li>
        ))}
      </ul>
    </section>
  );
}
