<?php
// The part of the round trip that runs inside Moodle. With Moodle's own classes, it makes a course, downloads hand-ins,
// imports grades and feedback, and shows the result.
//
//     php inside.php ROOT ACTION [ARGUMENT ...]          round_trip.py calls it; ROOT is an installed Moodle
//
// It has not been run against a Moodle yet. It calls only functions that were read in Moodle's source: lib/testing/
// generator/data_generator.php, lib/accesslib.php, lib/external/classes/util.php, webservice/lib.php,
// mod/assign/locallib.php, mod/assign/classes/downloader.php, mod/assign/feedback/offline/locallib.php and
// importgradeslib.php, mod/assign/feedback/file/locallib.php and importziplib.php, lib/csvlib.class.php.

define('CLI_SCRIPT', true);
[, $root, $action] = $argv;
$arguments = array_slice($argv, 3);
require($root . '/config.php');
require_once($CFG->libdir . '/testing/generator/lib.php');
require_once($CFG->libdir . '/csvlib.class.php');
require_once($CFG->dirroot . '/webservice/lib.php');
require_once($CFG->dirroot . '/mod/assign/locallib.php');
require_once($CFG->dirroot . '/mod/assign/feedback/offline/importgradeslib.php');
require_once($CFG->dirroot . '/mod/assign/feedback/file/importziplib.php');

const FUNCTIONS = ['mod_assign_get_assignments', 'mod_assign_get_submissions', 'mod_assign_get_grades',
    'mod_assign_get_submission_status', 'mod_assign_save_grade', 'mod_assign_list_participants',
    'mod_assign_get_user_flags', 'core_enrol_get_enrolled_users'];

/** Makes a user the current one. Moodle then checks no session key, because a command line has no form with a key. */
function become(stdClass $user): void {
    global $USER;
    \core\session\manager::set_user($user);
    $USER->ignoresesskey = true;
}

/** Sets up the page on which an assignment's importers draw, and returns the assignment. */
function open_assignment(int $cmid): assign {
    global $PAGE;
    [$course, $cm] = get_course_and_cm_from_cmid($cmid, 'assign');
    $PAGE->set_cm($cm, $course);
    $PAGE->set_url('/mod/assign/view.php', ['id' => $cmid]);
    return new assign(context_module::instance($cmid), $cm, $course);
}

/** Puts files into a new draft area of the current user, and returns the area's number. */
function make_draft_area(string ...$files): int {
    global $USER;
    $area = file_get_unused_draft_itemid();
    foreach ($files as $file) {
        get_file_storage()->create_file_from_pathname(['contextid' => context_user::instance($USER->id)->id,
            'component' => 'user', 'filearea' => 'draft', 'itemid' => $area, 'filepath' => '/',
            'filename' => basename($file)], $file);
    }
    return $area;
}

/** Makes the course that a JSON file describes, and returns the numbers that round_trip.py needs. */
function make(array $description): array {
    $generator = new testing_data_generator();
    $course = $generator->create_course(['shortname' => 'cuda']);
    $teacher = $generator->create_and_enrol($course, 'editingteacher', ['username' => 'grace']);
    $users = $groups = [];
    foreach ($description['students'] as $username => $student) {
        $users[$username] = $generator->create_and_enrol($course, 'student', ['username' => $username,
            'firstname' => $student['first'], 'lastname' => $student['last'], 'email' => $student['email']]);
        if ($name = $student['group']) {
            $groups[$name] ??= $generator->create_group(['courseid' => $course->id, 'name' => $name]);
            $generator->create_group_member(['groupid' => $groups[$name]->id, 'userid' => $users[$username]->id]);
        }
    }
    $made = ['course' => (int) $course->id, 'assignments' => []];
    foreach ($description['assignments'] as $name => $assignment) {
        $instance = $generator->create_module('assign', ['course' => $course->id, 'name' => $name,
            'grade' => $description['points'], 'submissiondrafts' => 0, 'teamsubmission' => (int) $assignment['team'],
            'assignsubmission_file_enabled' => 1, 'assignsubmission_file_maxfiles' => 20,
            'assignsubmission_file_maxsizebytes' => 1048576, 'assignfeedback_comments_enabled' => 1,
            'assignfeedback_file_enabled' => 1, 'assignfeedback_offline_enabled' => 1]);
        $made['assignments'][$name] = (int) $instance->cmid;
        foreach ($assignment['hand_ins'] as $username => $files) {
            become($users[$username]);
            $notices = [];
            open_assignment($instance->cmid)->save_submission((object) ['userid' => $users[$username]->id,
                'files_filemanager' => make_draft_area(...$files)], $notices);
            if ($notices) {
                throw new Exception(implode(' ', $notices));
            }
        }
    }
    become(get_admin());
    return $made + ['token' => make_token($generator, $teacher)];
}

/** Enables the web services for a teacher, and returns the token. */
function make_token(testing_data_generator $generator, stdClass $teacher): string {
    set_config('enablewebservices', 1);
    set_config('webserviceprotocols', 'rest');
    $system = context_system::instance();
    $role = $generator->create_role();
    assign_capability('webservice/rest:use', CAP_ALLOW, $role, $system->id);
    role_assign($role, $teacher->id, $system->id);
    $services = new webservice();
    $service = $services->add_external_service((object) ['name' => 'warplab', 'shortname' => 'warplab', 'enabled' => 1,
        'restrictedusers' => 0, 'downloadfiles' => 1, 'uploadfiles' => 1]);
    foreach (FUNCTIONS as $function) {
        $services->add_external_function_to_service($function, $service);
    }
    return \core_external\util::generate_token(EXTERNAL_TOKEN_PERMANENT,
        \core_external\util::get_service_by_id($service), $teacher->id, $system);
}

/** Imports a worksheet as "Upload grading worksheet" does. */
function import_grades(assign $assign, string $file): void {
    $assign->get_feedback_plugin_by_type('offline')->process_import_grades(make_draft_area($file),
        csv_import_reader::get_new_iid('assignfeedback_offline'), false);
}

/** Imports a zip as "Upload multiple feedback files in a zip" does. */
function import_feedback(assign $assign, string $file): void {
    global $USER;
    $context = $assign->get_context()->id;
    $plugin = $assign->get_feedback_plugin_by_type('file');
    $importer = new assignfeedback_file_zip_importer();
    $importer->delete_import_files($context);
    $zip = get_file_storage()->create_file_from_pathname(['contextid' => $context,
        'component' => 'assignfeedback_file', 'filearea' => ASSIGNFEEDBACK_FILE_IMPORT_FILEAREA,
        'itemid' => $USER->id, 'filepath' => '/', 'filename' => 'import.zip'], $file);
    $importer->extract_files_from_zip($zip, $context);
    $importer->import_zip_files($assign, $plugin);
    $importer->delete_import_files($context);
}

/** Returns each student's number in the worksheet, grade, comment, and the hashes of the feedback files. */
function show(assign $assign): array {
    $shown = [];
    foreach ($assign->list_participants(0, false) as $user) {
        $grade = $assign->get_user_grade($user->id, false);
        $files = [];
        $stored = $grade ? get_file_storage()->get_area_files($assign->get_context()->id, 'assignfeedback_file',
            ASSIGNFEEDBACK_FILE_FILEAREA, $grade->id, 'id', false) : [];
        foreach ($stored as $file) {
            $files[$file->get_filename()] = hash('sha256', $file->get_content());
        }
        $comment = $grade ? $assign->get_feedback_plugin_by_type('comments')->get_editor_text('comments', $grade->id) : '';
        $shown[$user->username] = ['number' => (string) $assign->get_uniqueid_for_user($user->id),
            'grade' => $grade && $grade->grade >= 0 ? (float) $grade->grade : null, 'comment' => (string) $comment,
            'files' => (object) $files];
    }
    return $shown;
}

become(get_admin());
switch ($action) {
    case 'make':
        file_put_contents($arguments[1], json_encode(make(json_decode(file_get_contents($arguments[0]), true))));
        break;
    case 'download': // writes the zip to standard output, and exits
        $downloader = new \mod_assign\downloader(open_assignment($arguments[0]));
        $downloader->load_filelist();
        $downloader->download_zip();
        break;
    case 'worksheet': // writes the table to standard output, and may exit
        open_assignment($arguments[0])->get_feedback_plugin_by_type('offline')->view_page('downloadgrades');
        break;
    case 'import-grades':
        import_grades(open_assignment($arguments[0]), $arguments[1]);
        break;
    case 'import-feedback':
        import_feedback(open_assignment($arguments[0]), $arguments[1]);
        break;
    case 'show':
        file_put_contents($arguments[1], json_encode(show(open_assignment($arguments[0]))));
        break;
    default:
        throw new Exception("There is no action $action.");
}
