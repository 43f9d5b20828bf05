import Bottleneck from 'bottleneck';

/**
 * `minTime` is minus infinity, not 0, because Bottleneck holds a job back until the wall clock has reached the time of the
 * job before it plus `minTime`: with 0, a clock set back by an hour would stop every call for an hour. The first job would
 * wait for the time at which the limiter was made, so that one runs at once.
 */
export function openSlots(maxConcurrent: number): Bottleneck {
  const slots = new Bottleneck({ maxConcurrent, minTime: Number.NEGATIVE_INFINITY });
  slots.schedule({ weight: 0, priority: 0 }, async () => {}).catch(() => {});
  return slots;
}
