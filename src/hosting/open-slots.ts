import Bottleneck from 'bottleneck';

/**
 * `minTime` is minus infinity, not 0, because Bottleneck holds a job back until the wall clock has reached the time of the
 * job before it plus `minTime`: with 0, a clock set back by an hour would stop every call for an hour.
 */
export function openSlots(maxConcurrent: number): Bottleneck {
  return new Bottleneck({ maxConcurrent, minTime: Number.NEGATIVE_INFINITY });
}
