import { useState } from 'preact/hooks';
import type { WireServer } from '../../../hosting/servers.ts';
import type { PanelState, TourStep } from '../../../panel/panel-api.ts';
import { changeScreen, countDone, insertCommand, useScreen } from '../state.ts';
import { FaultSwitch, KeyMaker } from './account.tsx';

/** The guided tour: the next step is open, completed ones are checked. */
export function Tour({ panel }: { readonly panel: PanelState }) {
  const steps = panel.tour;
  const [opened, setOpened] = useState<string>();
  const done = countDone(steps);
  const isAllDone = done === steps.length;
  const next = steps.find(({ isDone }) => !isDone)?.id;
  const open = opened ?? next;
  return (
    <section class="tour" aria-labelledby="tour-title">
      <h3 id="tour-title">{isAllDone ? 'Tour complete' : 'Five steps, about two minutes'}</h3>
      <progress class="tour-progress" max={steps.length} value={done} aria-label="Steps done">
        {done} of {steps.length}
      </progress>
      {isAllDone && <Finished />}
      <ol class="steps">
        {steps.map((step, index) => (
          <li key={step.id} class={`step ${step.isDone ? 'done' : ''} ${step.id === open ? 'open' : ''}`}>
            <button
              type="button"
              class="row step-head"
              aria-expanded={step.id === open}
              onClick={() => setOpened(step.id === open ? '' : step.id)}
            >
              <span class="step-sign" role="img" aria-label={step.isDone ? 'done' : 'not done'}>
                {step.isDone ? '✓' : index + 1}
              </span>
              <span class="step-title">{step.title}</span>
            </button>
            {step.id === open && (
              <div class="step-body">
                <p>
                  <StepWords words={step.words} />
                </p>
                {!step.isDone && <StepHelp id={step.id} panel={panel} />}
              </div>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function Finished() {
  return (
    <div class="tour-finished" role="status">
      <p>You lost a response and were still charged only once.</p>
      <p>
        What’s next? Try other failures in the{' '}
        <button type="button" class="link-button" onClick={() => changeScreen({ panelTab: 'account' })}>
          hosting account
        </button>
        , switch user at the bottom left, or see{' '}
        <a href="/gallery" target="_blank" rel="noopener noreferrer">
          everything the app says ↗
        </a>
        .
      </p>
    </div>
  );
}

/** The words of a step. Text in backticks is a command; pressing it puts it into the composer. Text in asterisks is bold. */
function StepWords({ words }: { readonly words: string }) {
  return (
    <>
      {words.split('`').map((part, index) =>
        index % 2 === 0 ? (
          part.split('*').map((each, at) => (at % 2 === 0 ? each : <b key={at}>{each}</b>))
        ) : (
          <button
            key={index}
            type="button"
            class="command"
            title="Put this into the composer"
            onClick={() => insertCommand(part)}
          >
            {part}
          </button>
        ),
      )}
    </>
  );
}

/** The parts of the panel that a step needs, inside the step itself. */
function StepHelp({ id, panel }: { readonly id: TourStep['id']; readonly panel: PanelState }) {
  const lost = panel.presets.find((preset) => preset.id === 'lose_answer');
  if (id === 'connect') return <KeyMaker />;
  if (id === 'reboot') return <Waiting servers={panel.servers} />;
  if (id === 'lose' && lost) return <FaultSwitch preset={lost} faults={panel.account.faults} />;
  return null;
}

/** A server that was just ordered can't be rebooted yet. */
function Waiting({ servers }: { readonly servers: readonly WireServer[] }) {
  const labels = servers.filter(({ state }) => state === 'creating').map(({ label }) => label);
  if (labels.length === 0 || labels.length < servers.length) return null;
  return (
    <p class="step-wait" role="status">
      <span class="spinner" aria-hidden="true" /> {labels.join(', ')} is still being created. A few more
      seconds…
    </p>
  );
}

/** "2/5"; a check mark when the tour is complete. */
export function TourCount() {
  const words = useScreen((screen) => {
    const steps = screen.panel?.tour;
    if (!steps) return '';
    const done = countDone(steps);
    return done === steps.length ? '✓' : `${done}/${steps.length}`;
  });
  return words ? <span class="tour-count">{words}</span> : null;
}
