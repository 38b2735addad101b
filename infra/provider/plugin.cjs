// Entry of the package for `pulumi package add`: Pulumi's own launcher requires it, and calls what it exports.
module.exports = () => import("./main.js");
