import type { PanelServer } from '../../../../panel/panel-api.ts';
import { Icon } from '../../icon.tsx';
import { confirmed } from '../../modal/ask.ts';
import { Refused, usePanelAction } from '../use-panel-action.tsx';
import { dayAt, isPast } from './service-time.ts';

/** The servers of the account, as the hosting service itself sees them. */
export function Servers({
  servers,
  movedMs,
}: {
  readonly servers: readonly PanelServer[];
  readonly movedMs: number;
}) {
  const { isBusy, refusal, run } = usePanelAction();
  return (
    <section aria-labelledby="servers-title">
      <h3 id="servers-title">
        Servers <span class="quiet">{servers.length}</span>
      </h3>
      {servers.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="rows scrolling">
        {servers.map((server) => (
          <ServerRow key={server.id} server={server} movedMs={movedMs} />
        ))}
      </ul>
      <button
        type="button"
        class="button small"
        aria-busy={isBusy}
        onClick={() => run({ do: 'seed_servers' })}
      >
        Add 20 running servers (free)
      </button>
      <Refused words={refusal} />
    </section>
  );
}

function ServerRow({ server, movedMs }: { readonly server: PanelServer; readonly movedMs: number }) {
  const { refusal, run } = usePanelAction();
  const { id, label, state, ipv4, paidUntil } = server;
  const remove = async () => {
    if (await confirmed(removalQuestion(server))) await run({ do: 'delete_server', server: id });
  };
  return (
    <li>
      <div class="row server-row">
        <span class={`state ${state}`} title={state} />
        <span class="server-label" title={`${label} · #${id} · ${ipv4}`}>
          {label}
        </span>
        <span class="quiet server-state">{state}</span>
        <span class={isPast(paidUntil, movedMs) ? 'bad paid' : 'quiet paid'} title="Paid until">
          until {dayAt(paidUntil)}
        </span>
        <button type="button" class="icon-button tiny" aria-label={`Delete ${label} here`} onClick={remove}>
          <Icon name="close" />
        </button>
      </div>
      <Refused words={refusal} />
    </li>
  );
}

function removalQuestion({ label }: PanelServer) {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  return {
    title: plain(`Delete ${label} here?`),
    text: plain('This deletes the server on the hosting account’s own page. The app isn’t notified.'),
    confirm: plain('Delete'),
    deny: plain('Cancel'),
    style: 'danger',
  };
}
