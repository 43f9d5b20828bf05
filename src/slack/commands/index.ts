import type { Command } from '../command.ts';
import { access } from './access.ts';
import { audit } from './audit.ts';
import { catalog } from './catalog.ts';
import { connect, disconnect } from './connect.ts';
import { create } from './create.ts';
import { remove } from './delete.ts';
import { defineHelp } from './help.ts';
import { list } from './list.ts';
import { password } from './password.ts';
import { reboot, start, stop } from './power.ts';
import { renew } from './renew.ts';
import { settings } from './settings.ts';
import { show } from './show.ts';
import { status } from './status.ts';

/** Every subcommand of `/vps`, in the order in which help, the README and the manifest name them. */
export const commands: readonly Command[] = [
  defineHelp(() => commands),
  list,
  show,
  catalog,
  start,
  stop,
  reboot,
  create,
  renew,
  remove,
  password,
  connect,
  disconnect,
  access,
  settings,
  audit,
  status,
];
