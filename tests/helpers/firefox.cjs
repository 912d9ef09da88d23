// Read by Playwright before it starts Firefox. It says whether a reader prefers the dark by a command that Firefox 153
// lacks, and gives up when that is refused: here Firefox is asked for its status in place of it.
const stringify = JSON.stringify;
JSON.stringify = (value, ...rest) => stringify(
  value?.method === "emulation.setMediaFeaturesOverride"
    ? { ...value, method: "session.status", params: {} } : value, ...rest);
