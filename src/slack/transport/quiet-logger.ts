import { type Logger, LogLevel } from '@slack/web-api';
import type { Log } from '../../log.ts';

/** Slack's own packages log whole bodies at debug level, a root password included: only that there was trouble is kept. */
export function quietLogger(log: Log): Logger {
  return {
    debug() {},
    info() {},
    warn: () => log.debug('Slack’s library warned'),
    error: () => log.debug('Slack’s library reported an error'),
    setLevel() {},
    setName() {},
    getLevel: () => LogLevel.ERROR,
  };
}
