import { useEffect, useId, useReducer, useState } from 'preact/hooks';
import type { MoneyEntry } from '../../../hosting/journal.ts';
import type { WireServer } from '../../../hosting/servers.ts';
import type {
  FaultPreset,
  PanelAccount,
  PanelAction,
  PanelFault,
  PanelKey,
  PanelState,
} from '../../../panel/panel-api.ts';
import { IconButton, Section, SmallButton } from '../controls.tsx';
import { ConfirmDialog } from '../modal.tsx';
import { confirmed, useScreen } from '../state.ts';
import { clockTime } from '../text/parse.ts';
import { Preformatted } from '../text/view.tsx';
import { Refused, usePanelAction } from './follow.tsx';

export function AccountPage() {
  const panel = useScreen((screen) => screen.panel);
  return (
    <>
      <main class="panel">
        <div class="panel-body account-page">
          <h1>Hosting account</h1>
          {panel && <Account panel={panel} />}
        </div>
      </main>
      <ConfirmDialog />
    </>
  );
}

/** The hosting account that the app works for, and what can be made to go wrong there. */
export function Account({ panel }: { readonly panel: PanelState }) {
  const { account, money } = panel;
  return (
    <>
      <Balance account={account} />
      <Keys account={account} />
      <Servers panel={panel} />
      <Money entries={money} />
      <Time movedMs={account.movedMs} />
      <Faults panel={panel} />
      <Links />
    </>
  );
}

const TOP_UPS = [10, 50, 200];

function Balance({ account }: { readonly account: PanelAccount }) {
  const { refusal, run } = usePanelAction();
  return (
    <Section id="balance" title={account.name}>
      <p class="balance">
        <strong>{account.balance}</strong> <span class="quiet">balance</span>
      </p>
      <div class="row">
        {TOP_UPS.map((amount) => (
          <SmallButton
            key={amount}
            label={`Top up ${amount}`}
            onClick={() => run({ do: 'top_up', amountMinor: amount * 100 })}
          >
            +{amount}
          </SmallButton>
        ))}
      </div>
      <Refused words={refusal} />
    </Section>
  );
}

const CONNECTIONS: Readonly<Record<PanelAccount['connection'], string>> = {
  none: 'The app has no API key yet.',
  works: '✓ The app is connected.',
  revoked: 'The app’s key was revoked. Connect again to use the app.',
};

function Keys({ account: { keys, connection } }: { readonly account: PanelAccount }) {
  return (
    <Section id="keys" title="API keys">
      <p class={`connection ${connection}`}>{CONNECTIONS[connection]}</p>
      <ul class="rows">
        {keys.map((key) => (
          <KeyRow key={key.id} entry={key} />
        ))}
      </ul>
      <KeyMaker />
    </Section>
  );
}

function KeyRow({ entry }: { readonly entry: PanelKey }) {
  const { id, hint, createdAtMs, revokedAtMs, isUsedByApp } = entry;
  const { refusal, run } = usePanelAction();
  return (
    <li>
      <div class="row">
        <code>…{hint}</code>
        {isUsedByApp && <span class="badge">used by the app</span>}
        <span class="quiet grow">{clockTime(new Date(createdAtMs))}</span>
        {revokedAtMs === undefined ? (
          <SmallButton
            label={`Revoke the key that ends in ${hint}`}
            onClick={() => run({ do: 'revoke_key', key: id })}
          >
            Revoke
          </SmallButton>
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
        <SmallButton isBusy={isBusy} onClick={make}>
          Create an API key
        </SmallButton>
      ) : (
        <>
          <div class="row">
            <span class="grow">New key (shown only once)</span>
            <SmallButton onClick={() => setMade(undefined)}>Hide</SmallButton>
          </div>
          <Preformatted>{made}</Preformatted>
        </>
      )}
      <Refused words={refusal} />
    </div>
  );
}

function Servers({ panel: { servers, account } }: { readonly panel: PanelState }) {
  const { movedMs } = account;
  const { isBusy, refusal, run } = usePanelAction();
  return (
    <Section
      id="servers"
      title={
        <>
          Servers <span class="quiet">{servers.length}</span>
        </>
      }
    >
      {servers.length === 0 && <p class="quiet">None yet.</p>}
      <ul class="rows scrolling">
        {servers.map((server) => (
          <ServerRow key={server.id} server={server} movedMs={movedMs} />
        ))}
      </ul>
      <SmallButton isBusy={isBusy} onClick={() => run({ do: 'seed_servers' })}>
        Add 20 running servers (free)
      </SmallButton>
      <Refused words={refusal} />
    </Section>
  );
}

function ServerRow({ server, movedMs }: { readonly server: WireServer; readonly movedMs: number }) {
  const { refusal, run } = usePanelAction();
  const { id, label, state, ipv4 } = server;
  const paidUntil = Date.parse(server.paid_until);
  const remove = async () => {
    if (await confirmed(removalQuestion(server))) await run({ do: 'delete_server', server: id });
  };
  return (
    <li>
      <div class="row server-row">
        <span class={`state ${state}`} title={state} />
        <span class="grow server-label" title={`${label} · #${id} · ${ipv4}`}>
          {label}
        </span>
        <span class="quiet server-state">{state}</span>
        <span class={paidUntil <= Date.now() + movedMs ? 'bad paid' : 'quiet paid'} title="Paid until">
          until {dayAt(paidUntil)}
        </span>
        <IconButton name="close" class="tiny" label={`Delete ${label} here`} onClick={remove} />
      </div>
      <Refused words={refusal} />
    </li>
  );
}

function removalQuestion({ label }: WireServer) {
  const plain = (text: string) => ({ type: 'plain_text', text, emoji: false });
  return {
    title: plain(`Delete ${label} here?`),
    text: plain('This deletes the server on the hosting account’s own page. The app isn’t notified.'),
    confirm: plain('Delete'),
    deny: plain('Cancel'),
    style: 'danger',
  };
}

const WORDS: Readonly<Record<MoneyEntry['kind'], string>> = {
  top_up: 'Top-up',
  charge: 'Charge',
  refund: 'Refund',
};

function Money({ entries }: { readonly entries: readonly MoneyEntry[] }) {
  return (
    <Section id="money" title="Charges and refunds">
      {entries.length === 0 && <p class="quiet">Nothing yet.</p>}
      <ol class="rows scrolling">
        {entries.toReversed().map(({ id, atMs, kind, amountMinor, what }) => (
          <li key={id} class="row" title={momentAt(atMs)}>
            <span class={`badge ${kind}`}>{WORDS[kind]}</span>
            <span class="grow what">{kind === 'top_up' ? '' : what}</span>
            <span class={`sum ${kind}`}>
              {kind === 'charge' ? '−' : '+'}
              {(amountMinor / 100).toFixed(2)}
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}

type Step = Extract<PanelAction, { do: 'skip_time' }>['step'];

const STEPS: readonly (readonly [Step, string])[] = [
  ['hour', 'An hour later'],
  ['day', 'A day later'],
  ['month', 'A month later'],
];
const REDRAW_MS = 20_000;

/** The time of the hosting service, the app and Slack, and buttons to move it forward. */
function Time({ movedMs }: { readonly movedMs: number }) {
  const { isBusy, refusal, run } = usePanelAction();
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    const timer = setInterval(() => redraw(0), REDRAW_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <Section id="time" title="Time in the sandbox" isBusy={isBusy}>
      <p>
        {momentAt(Date.now() + movedMs)}
        {movedMs > 0 && <span class="quiet"> · {describeMove(movedMs)} ahead</span>}
      </p>
      <div class="row">
        {STEPS.map(([step, words]) => (
          <SmallButton key={step} onClick={() => run({ do: 'skip_time', step })}>
            {words}
          </SmallButton>
        ))}
      </div>
      <Refused words={refusal} />
    </Section>
  );
}

function Faults({ panel: { presets, account } }: { readonly panel: PanelState }) {
  const { faults } = account;
  return (
    <Section
      id="faults"
      title={<>Faults {faults.length > 0 && <span class="badge warn">{faults.length} on</span>}</>}
    >
      <ul class="rows faults">
        {presets.map((preset) => (
          <li key={preset.id}>
            <FaultSwitch preset={preset} faults={faults} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface FaultSwitchProps {
  readonly preset: FaultPreset;
  readonly faults: readonly PanelFault[];
}

/** One fault: it affects the next request, or all until it is switched off. */
export function FaultSwitch({ preset: { id, title, hint }, faults }: FaultSwitchProps) {
  const on = faults.filter(({ preset }) => preset === id);
  const { isBusy, refusal, run } = usePanelAction();
  const hintId = useId();
  const toggle = async () => {
    if (on.length === 0) await run({ do: 'add_fault', preset: id });
    for (const fault of on) await run({ do: 'remove_fault', fault: fault.id });
  };
  return (
    <div class="fault">
      <button
        type="button"
        role="switch"
        class="row switch"
        aria-checked={on.length > 0}
        aria-busy={isBusy}
        aria-describedby={hintId}
        onClick={toggle}
      >
        <span class="switch-knob" aria-hidden="true" />
        <span class="switch-words">{title}</span>
      </button>
      <p id={hintId} class="quiet fault-hint">
        {hint} {on.length > 0 && <strong>{describeLeft(on)}</strong>}
      </p>
      <Refused words={refusal} />
    </div>
  );
}

function describeLeft(faults: readonly PanelFault[]): string {
  if (faults.some(({ left }) => left === null)) return 'Stays on until you switch it off.';
  const left = faults.reduce((sum, fault) => sum + (fault.left ?? 0), 0);
  return left === 1 ? 'Affects the next matching request.' : `Affects the next ${left} matching requests.`;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** "Dec 21" */
function dayAt(ms: number): string {
  return new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' }).format(ms);
}

/** "Dec 21, 2026, 14:05" */
function momentAt(ms: number): string {
  const how = { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' } as const;
  return new Intl.DateTimeFormat('en-US', how).format(ms);
}

/** "1 day and 2 hours" */
function describeMove(movedMs: number): string {
  const days = Math.floor(movedMs / DAY_MS);
  const hours = Math.round((movedMs - days * DAY_MS) / HOUR_MS);
  const count = (many: number, unit: string) =>
    many === 0 ? [] : [`${many} ${unit}${many === 1 ? '' : 's'}`];
  return [...count(days, 'day'), ...count(hours, 'hour')].join(' and ');
}

const LINKS = [
  { text: 'Hosting account', href: '/account', hint: 'balance, keys, servers, faults, time' },
  { text: 'Workflows', href: '/workflows', hint: 'run the app’s step as Workflow Builder would' },
  { text: 'Gallery', href: '/gallery', hint: 'every message and modal of the app' },
];

function Links() {
  return (
    <ul class="panel-links">
      {LINKS.map(({ text, href, hint }) => (
        <li key={href}>
          <a href={href} target="_blank" rel="noopener noreferrer">
            <strong>{text} ↗</strong>
            <span>{hint}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
