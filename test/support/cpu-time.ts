/**
 * Starts to measure the processor time of this process, in milliseconds: a busy machine takes the processor away now and
 * then, which the clock on the wall would count. Returns what reads it.
 */
export function startCpuTimer(): () => number {
  const since = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(since);
    return (user + system) / 1000;
  };
}
