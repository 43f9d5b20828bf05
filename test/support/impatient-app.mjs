// The built app with a doubt of three seconds, which the environment can't set: at least a minute is accepted there.
import { compose } from '../../src/app.ts';
import { parseConfig } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';

const config = { ...parseConfig(process.env), DOUBT_MINUTES: 0.05 };
const log = createLog(config.LOG_LEVEL);
const app = await compose(config, log);
log.info('ready', { port: app.port });
