import { useState } from 'preact/hooks';
import type { PanelAccount, PanelKey } from '../../../../panel/panel-api.ts';
import { clockTime } from '../../text/dates.ts';
import { Preformatted } from '../../text/preformatted.tsx';
import { Refused, usePanelAction } from '../use-panel-action.tsx';

const CONNECTIONS: Readonly<Record<PanelAccount['connection'], string>> = {
  none: 'The app has no API key yet.',
  works: '✓ The app is connected.',
  revoked: 'The app’s key was revoked. Connect again to use the app.',
};

/** The API keys of the account, and whether the app has one that works. */
export function Keys({ account: { keys, connection } }: { readonly account: PanelAccount }) {
  return (
    <section aria-labelledby="keys-title">
      <h3 id="keys-title">API keys</h3>
      <p class={`connection ${connection}`}>{CONNECTIONS[connection]}</p>
      <ul class="rows">
        {keys.map((key) => (
          <KeyRow key={key.id} entry={key} />
        ))}
      </ul>
      <KeyMaker />
    </section>
  );
}

function KeyRow({ entry: { id, hint, createdAt, revokedAt, isUsedByApp } }: { readonly entry: PanelKey }) {
  const { refusal, run } = usePanelAction();
  return (
    <li>
      <div class="row">
        <code>…{hint}</code>
        {isUsedByApp && <span class="badge">used by the app</span>}
        <span class="quiet grow">{clockTime(new Date(createdAt))}</span>
        {revokedAt === null ? (
          <button
            type="button"
            class="button small"
            aria-label={`Revoke the key that ends in ${hint}`}
            onClick={() => run({ do: 'revoke_key', key: id })}
          >
            Revoke
          </button>
        ) : (
          <span class="quiet">revoked</span>
        )}
      </div>
      <Refused words={refusal} />
    </li>
  );
}

/** Creates an API key. It is shown once, until it is hidden. */
export function KeyMaker() {
  const { isBusy, refusal, run } = usePanelAction();
  const [made, setMade] = useState<string>();
  const make = async () => {
    const done = await run({ do: 'create_key' });
    if (done?.ok) setMade(done.key);
  };
  return (
    <div class="key-maker">
      {made === undefined ? (
        <button type="button" class="button small" aria-busy={isBusy} onClick={make}>
          Create an API key
        </button>
      ) : (
        <>
          <div class="row">
            <span class="grow">New key (shown only once)</span>
            <button type="button" class="button small" onClick={() => setMade(undefined)}>
              Hide
            </button>
          </div>
          <Preformatted>{made}</Preformatted>
        </>
      )}
      <Refused words={refusal} />
    </div>
  );
}
