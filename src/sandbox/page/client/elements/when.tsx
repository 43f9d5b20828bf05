import { listOf } from './entered.ts';
import type { ElementProps } from './surface.ts';
import { useSpot } from './use-spot.ts';

const INPUTS: Readonly<Record<string, 'date' | 'time' | 'datetime-local'>> = {
  datepicker: 'date',
  timepicker: 'time',
  datetimepicker: 'datetime-local',
};

/** Dates and times, with the browser's own pickers. */
export function WhenElement({ block, element, labelId, describedBy, isWrong }: ElementProps) {
  const { entered, enter } = useSpot(block, element);
  const type = INPUTS[String(element.type)] ?? 'date';
  const value = listOf(entered)[0] ?? '';
  const change = (shown: string) => {
    if (shown === '') void enter(null);
    else void enter(type === 'datetime-local' ? String(new Date(shown).getTime() / 1000) : shown);
  };
  return (
    <input
      class="text-input when"
      type={type}
      value={type === 'datetime-local' ? toLocal(value) : value}
      aria-labelledby={labelId}
      aria-label={labelId ? undefined : 'Date'}
      aria-describedby={describedBy}
      aria-invalid={isWrong}
      onChange={(event) => change(event.currentTarget.value)}
    />
  );
}

/** Seconds since the epoch as `2026-10-06T14:05`, in the reader's zone. */
function toLocal(seconds: string): string {
  if (seconds === '') return '';
  const at = new Date(Number(seconds) * 1000);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
