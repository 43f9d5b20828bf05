import type { ServerAct } from '../../domain/failed-act.ts';

/** Each act in the forms that sentences need. */
export const VERBS = {
  start: { title: 'Start', past: 'started', present: 'starting' },
  stop: { title: 'Stop', past: 'stopped', present: 'stopping' },
  reboot: { title: 'Reboot', past: 'rebooted', present: 'rebooting' },
  delete: { title: 'Delete', past: 'deleted', present: 'deleting' },
} as const satisfies Readonly<Record<ServerAct, object>>;
