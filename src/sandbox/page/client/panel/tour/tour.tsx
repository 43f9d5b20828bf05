import { useState } from 'preact/hooks';
import type { PanelState, TourStep } from '../../../../panel/panel-api.ts';
import { countDone } from '../../state/panel-state.ts';
import { changeScreen } from '../../state/store.ts';
import { clockTime } from '../../text/dates.ts';
import { StepHelp } from './step-help.tsx';
import { StepWords } from './step-words.tsx';

interface TourProps {
  readonly steps: readonly TourStep[];
  readonly panel: PanelState;
}

/** The guided tour: the next step is open, completed ones are checked. */
export function Tour({ steps, panel }: TourProps) {
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
          <li key={step.id} class={stepClass(step, step.id === open)}>
            <StepHead
              step={step}
              number={index + 1}
              isOpen={step.id === open}
              onToggle={() => setOpened(step.id === open ? '' : step.id)}
            />
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

interface StepHeadProps {
  readonly step: TourStep;
  readonly number: number;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
}

function StepHead({ step: { title, isDone, doneAt }, number, isOpen, onToggle }: StepHeadProps) {
  return (
    <button type="button" class="step-head" aria-expanded={isOpen} onClick={onToggle}>
      <span class="step-sign" role="img" aria-label={isDone ? 'done' : 'not done'}>
        {isDone ? '✓' : number}
      </span>
      <span class="step-title">{title}</span>
      {doneAt !== null && <time class="step-time">{clockTime(new Date(doneAt))}</time>}
    </button>
  );
}

function stepClass({ isDone }: TourStep, isOpen: boolean): string {
  return `step ${isDone ? 'done' : ''} ${isOpen ? 'open' : ''}`;
}

function Finished() {
  return (
    <div class="tour-finished" role="status">
      <p>The order whose response was lost was charged only once.</p>
      <p>
        What's next? Try other failures in the{' '}
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
